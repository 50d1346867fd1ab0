import { ConfigError, type ApiConfig } from "@sless/contracts";
import { createAuthenticator, createInsecureAuthenticator, type Authenticator } from "./authenticator.js";
import { createJwksFetcher, isTrustworthyUrl } from "./fetch-jwks.js";
import { createJwks } from "./jwks.js";

type AuthConfig = Pick<
  ApiConfig,
  | "SLESS_AUTH_JWKS_URL"
  | "SLESS_AUTH_ISSUER"
  | "SLESS_AUTH_AUDIENCE"
  | "SLESS_AUTH_TENANT_CLAIM"
  | "SLESS_AUTH_ADMIN_CLAIM"
  | "SLESS_AUTH_ADMIN_SCOPE"
  | "SLESS_AUTH_INSECURE"
>;

const findProblems = (config: AuthConfig): string[] => {
  const url = config.SLESS_AUTH_JWKS_URL;
  if (url === undefined) {
    return config.SLESS_AUTH_INSECURE
      ? []
      : ["SLESS_AUTH_JWKS_URL must be set. For development alone, SLESS_AUTH_INSECURE=true believes any token."];
  }
  return [
    ...(config.SLESS_AUTH_INSECURE ? ["SLESS_AUTH_INSECURE=true contradicts SLESS_AUTH_JWKS_URL; remove one."] : []),
    ...(config.SLESS_AUTH_ISSUER === undefined ? ["SLESS_AUTH_ISSUER must be set beside SLESS_AUTH_JWKS_URL."] : []),
    ...(isTrustworthyUrl(url) ? [] : ["SLESS_AUTH_JWKS_URL must be https unless it is on loopback."]),
  ];
};

/**
 * The authenticator that the settings ask for.
 * @throws ConfigError when they would leave tokens unchecked without saying so.
 */
export const makeAuthenticator = (
  config: AuthConfig,
  onJwksFetch?: (outcome: "ok" | "failed") => void,
): Authenticator => {
  const problems = findProblems(config);
  if (problems.length > 0) throw new ConfigError(problems);
  const rules = {
    tenantClaim: config.SLESS_AUTH_TENANT_CLAIM,
    adminClaim: config.SLESS_AUTH_ADMIN_CLAIM,
    adminScope: config.SLESS_AUTH_ADMIN_SCOPE,
  };
  const url = config.SLESS_AUTH_JWKS_URL;
  if (url === undefined) return createInsecureAuthenticator(rules);
  return createAuthenticator({
    ...rules,
    jwks: createJwks({ fetch: createJwksFetcher(url), ...(onJwksFetch && { onFetch: onJwksFetch }) }),
    issuer: config.SLESS_AUTH_ISSUER ?? "",
    audience: config.SLESS_AUTH_AUDIENCE,
  });
};
