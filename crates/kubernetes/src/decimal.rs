//! Exact decimal numbers of any size, as far as quantities need them.

use std::cmp::Ordering;

/// `digits × 10^exponent`, not negative. Most significant digit first, no zero at either end;
/// no digits is zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// From digits as text.
    pub(super) fn new(whole: &str, fraction: &str, exponent: i64) -> Self {
        let fraction_len = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
        let mut number = Self {
            digits: whole.bytes().chain(fraction.bytes()).map(|b| b - b'0').collect(),
            exponent: exponent.saturating_sub(fraction_len),
        };
        number.trim();
        number
    }

    fn trim(&mut self) {
        let zeros = self.digits.iter().take_while(|d| **d == 0).count();
        self.digits.drain(..zeros);
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent += 1;
        }
        if self.digits.is_empty() {
            self.exponent = 0;
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn is_whole(&self) -> bool {
        self.exponent >= 0
    }

    /// Multiplies by `2^power`.
    pub(super) fn shift_left(&mut self, power: u32) {
        for _ in 0..power {
            let mut carry = 0;
            for digit in self.digits.iter_mut().rev() {
                let doubled = *digit * 2 + carry;
                *digit = doubled % 10;
                carry = doubled / 10;
            }
            if carry > 0 {
                self.digits.insert(0, carry);
            }
        }
        self.trim();
    }

    /// Rounds up (away from zero) to a multiple of `10^place`.
    pub(super) fn round_up(&mut self, place: i64) {
        if self.is_zero() || self.exponent >= place {
            return;
        }
        let cut = usize::try_from(place - self.exponent).unwrap_or(usize::MAX);
        self.digits.truncate(self.digits.len().saturating_sub(cut));
        self.exponent = place;
        // Something other than zero was cut: the last digit never is zero.
        let mut index = self.digits.len();
        loop {
            if index == 0 {
                self.digits.insert(0, 1);
                break;
            }
            index -= 1;
            if self.digits[index] < 9 {
                self.digits[index] += 1;
                break;
            }
            self.digits[index] = 0;
        }
        self.trim();
    }

    /// The number as an integer and a power of ten that is a multiple of three, the integer as
    /// small as that allows.
    pub(super) fn thousands(&self) -> (String, i64) {
        let zeros = self.exponent.rem_euclid(3);
        let mut text = self.text();
        (0..zeros).for_each(|_| text.push('0'));
        (text, self.exponent - zeros)
    }

    /// A whole number as an integer times a power of 1024, the power as large as possible.
    pub(super) fn binary(&self) -> (String, u32) {
        let zeros = usize::try_from(self.exponent).unwrap_or(0);
        let mut digits = self.digits.clone();
        digits.resize(digits.len() + zeros, 0);
        let mut power = 0;
        while !digits.is_empty() {
            let mut quotient = Vec::with_capacity(digits.len());
            let mut rest: u32 = 0;
            for digit in &digits {
                rest = rest * 10 + u32::from(*digit);
                let next = u8::try_from(rest / 1024).expect("below ten: the rest is below 1024");
                rest %= 1024;
                if next > 0 || !quotient.is_empty() {
                    quotient.push(next);
                }
            }
            if rest > 0 {
                break;
            }
            digits = quotient;
            power += 1;
        }
        let text = digits.iter().map(|d| char::from(b'0' + d)).collect();
        (text, power)
    }

    /// The value in units of `10^exponent`, of which it must be a multiple; `None` beyond `i64`.
    pub(super) fn scaled(&self, exponent: i64) -> Option<i64> {
        let zeros = usize::try_from(self.exponent.saturating_sub(exponent)).ok()?;
        let zeros = std::iter::repeat_n(&0, zeros.min(20));
        let mut digits = self.digits.iter().chain(zeros.filter(|_| !self.is_zero()));
        digits.try_fold(0_i64, |sum, digit| sum.checked_mul(10)?.checked_add(i64::from(*digit)))
    }

    fn text(&self) -> String {
        self.digits.iter().map(|d| char::from(b'0' + d)).collect()
    }

    /// The number of digits before the point; may be negative.
    fn magnitude(&self) -> i64 {
        self.exponent.saturating_add(i64::try_from(self.digits.len()).unwrap_or(i64::MAX))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // No zeros at the ends: digit by digit is enough, and the longer one is larger.
            (false, false) => self.magnitude().cmp(&other.magnitude()).then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}
