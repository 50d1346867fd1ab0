/** The `code` of an error of Node.js or of a library, such as `ECONNREFUSED`; empty when it has none. */
export const errorCode = (error: unknown): string => {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
};
