// Code that is wider than its box is scrolled with the keyboard, too.
document.querySelectorAll('pre > code').forEach((code) => { code.tabIndex = 0; });
