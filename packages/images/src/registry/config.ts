/** How to reach one registry. */
export interface RegistryConfig {
  /** Origin, such as `http://127.0.0.1:5000` or `https://registry.example.org`. */
  url: string;
  credentials?: RegistryCredentials;
  timeouts?: Partial<RegistryTimeouts>;
  /** Tries of one request in all. Default 4. */
  maxAttempts?: number;
  /** First pause between tries, doubled each time, in milliseconds. Default 200. */
  backoffMs?: number;
}

export interface RegistryCredentials {
  username: string;
  password: string;
}

/** All in milliseconds. */
export interface RegistryTimeouts {
  connect: number;
  /** Until the head of an answer. */
  headers: number;
  /** Silence within a body. */
  body: number;
}

export const DEFAULT_REGISTRY_TIMEOUTS: RegistryTimeouts = { connect: 5_000, headers: 30_000, body: 30_000 };
