const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text that is safe inside an element and inside a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);

/** Escaped text in which `words in backticks` become code. */
export const prose = (text: string): string => escapeHtml(text).replace(/`([^`]{1,200})`/g, "<code>$1</code>");
