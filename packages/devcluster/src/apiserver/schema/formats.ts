import { isIP, isIPv4, isIPv6 } from "node:net";

const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const isUri = (value: string): boolean => {
  try {
    new URL(value);
    return true;
  } catch {
    return value.startsWith("/");
  }
};

const isCidr = (value: string): boolean => {
  const [address = "", bits = "", more] = value.split("/");
  const family = isIP(address);
  return more === undefined && /^\d{1,3}$/.test(bits) && family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
};

const FORMATS: Readonly<Record<string, (value: string) => boolean>> = {
  "date-time": (value) => DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)),
  date: (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)),
  uuid: (value) => UUID.test(value),
  byte: (value) => BASE64.test(value),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  uri: isUri,
};

/** Whether a string has a format of OpenAPI; formats that are not listed constrain nothing, as in Kubernetes. */
export const matchesFormat = (value: string, format: string): boolean => FORMATS[format]?.(value) ?? true;
