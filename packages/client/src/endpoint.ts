import { EndpointError } from "./errors.js";

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The origin and base path of an endpoint, without a trailing slash.
 * @throws EndpointError for anything but https, or http on loopback: a token is never sent in clear over a network
 */
export const parseEndpoint = (endpoint: string): string => {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || url.username !== "" || url.search !== "" || url.hash !== "") {
    throw new EndpointError(`${JSON.stringify(endpoint)} is no endpoint. Example: https://api.example.com`);
  }
  if (url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname)))
    return url.href.replace(/\/+$/, "");
  throw new EndpointError(`${endpoint} would carry the token unencrypted: use https (http is for loopback alone)`);
};
