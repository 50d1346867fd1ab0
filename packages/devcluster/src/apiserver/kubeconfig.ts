import { renameSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";

const NAME = "sless";

interface KubeconfigContent {
  url: string;
  token: string;
  /** PEM, trusted for this server alone. */
  certificate: string;
}

/** Writes a kubeconfig that only its owner can read; whole or not at all. */
export const writeKubeconfig = (path: string, { url, token, certificate }: KubeconfigContent): void => {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: NAME,
        cluster: { server: url, "certificate-authority-data": Buffer.from(certificate).toString("base64") },
      },
    ],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    "current-context": NAME,
  };
  const draft = `${path}.new`;
  writeFileSync(draft, stringify(config), { mode: 0o600 });
  renameSync(draft, path);
};
