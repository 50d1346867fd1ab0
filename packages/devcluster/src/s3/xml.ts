const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

export const escapeXml = (text: string): string =>
  // Control characters are no XML at all, not even escaped; a key that holds some is shown without.
  text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char).replace(/[^\P{Cc}\t\n\r]/gu, "");

type XmlValue = string | number | boolean | undefined | XmlFields | XmlFields[];
interface XmlFields {
  [name: string]: XmlValue;
}

const render = (name: string, value: XmlValue): string => {
  if (value === undefined) return "";
  if (Array.isArray(value)) return value.map((entry) => render(name, entry)).join("");
  const inner = typeof value === "object" ? renderFields(value) : escapeXml(String(value));
  return `<${name}>${inner}</${name}>`;
};
const renderFields = (fields: XmlFields): string =>
  Object.entries(fields)
    .map(([name, value]) => render(name, value))
    .join("");

/** A document of S3's namespace; lists become repeated elements, undefined ones are left out. */
export const makeXml = (root: string, fields: XmlFields): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${renderFields(fields)}</${root}>`;

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const decodeEntity = (whole: string, name: string): string => {
  const code = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name);
  if (!code) return ENTITIES[name] ?? whole;
  const point = code[1] ? parseInt(code[1], 16) : Number(code[2]);
  return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
};

/** The texts of all elements of a name. Enough for the one XML body that is read here: a list of keys to delete. */
export const readElements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) =>
    text.replace(/&([#\w]{1,10});/g, decodeEntity),
  );
