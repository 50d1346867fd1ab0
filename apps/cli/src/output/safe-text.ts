// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Text from a function or a server, made safe for a terminal: control characters become visible escapes, since an
 * escape sequence could rewrite what a person has already read. Tabs and line feeds stay.
 */
export const safeText = (text: string): string =>
  text.replace(CONTROL, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
