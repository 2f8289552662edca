//! Names of an enum's variants.

/// Gives each variant of an enum its name: `names!(Severity { Error = "error", Info = "info" });`.
#[macro_export]
macro_rules! names {
    ($of:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $of {
            /// All, in this order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name, as it is typed and printed.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The one with this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == name)
            }
        }
    };
}
