/** Bodies shown in the OpenAPI document. A test parses each with the schema it stands beside, so they stay true. */
const DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const NAMESPACE = "sless-2c26b46b68ffc68f";
const CREATED_AT = "2026-01-02T03:04:05Z";

const ready = {
  type: "Ready",
  status: "True",
  reason: "Ready",
  message: "version 1 takes all calls",
  lastTransitionTime: "2026-01-02T03:04:09Z",
  observedGeneration: 2,
};

const functionSettings = {
  runtime: "nodejs20",
  entrypoint: "index.handler",
  memory_mb: 128,
  timeout_sec: 30,
  env_vars: { GREETING: "hello" },
  scale: { min: 1, concurrency: 1 },
  keep_versions: 5,
};

const fn = {
  name: "hello",
  namespace: NAMESPACE,
  uid: "5f0c2a52-1d3b-4f6e-9c8a-0b1c2d3e4f50",
  generation: 2,
  created_at: CREATED_AT,
  ...functionSettings,
  code_digest: DIGEST,
  status: {
    phase: "Ready",
    message: "version 1 takes all calls",
    conditions: [ready],
    observed_generation: 2,
    latest_version: 1,
    ready_version: 1,
    traffic: [{ version: 1, percent: 100 }],
    url: "https://hello-2c26b46b.fn.example.com",
  },
};

const triggerSettings = { function: "hello", type: "http", enabled: true, http: { path: "/", methods: [] } };

const trigger = {
  name: "web",
  namespace: NAMESPACE,
  uid: "7a1c2a52-1d3b-4f6e-9c8a-0b1c2d3e4f51",
  generation: 1,
  created_at: CREATED_AT,
  ...triggerSettings,
  status: {
    phase: "Active",
    message: "answers at its URL",
    conditions: [{ ...ready, message: "answers at its URL", observedGeneration: 1 }],
    observed_generation: 1,
    url: "https://hello-2c26b46b.fn.example.com",
  },
};

const version = {
  version: 1,
  name: "hello-00001",
  created_at: CREATED_AT,
  code_digest: DIGEST,
  runtime: "nodejs20",
  entrypoint: "index.handler",
  memory_mb: 128,
  timeout_sec: 30,
  phase: "Ready",
  message: "1 of 1 instances are ready",
  conditions: [{ ...ready, message: "1 of 1 instances are ready", observedGeneration: 1 }],
  percent: 100,
  tags: [],
  image: `registry.example.com/sless/${NAMESPACE}@sha256:${DIGEST}`,
  build: { strategy: "layers", startedAt: CREATED_AT, seconds: 0.4 },
};

const problem = {
  type: "/errors#invalid-request",
  title: "The request is not valid",
  status: 400,
  detail: "/memory_mb must be at least 64.",
  error: "/memory_mb must be at least 64.",
  request_id: "0b9c1f6e-3b0a-4c58-8f5a-1f2e3d4c5b6a",
  errors: [{ pointer: "/memory_mb", message: "must be at least 64" }],
};

export const EXAMPLES = {
  CreateFunction: { name: "hello", ...functionSettings },
  FunctionSettings: functionSettings,
  PatchFunction: { memory_mb: 256, env_vars: { GREETING: null } },
  Function: fn,
  Version: version,
  UploadResult: {
    code_digest: DIGEST,
    size_bytes: 412,
    files: 1,
    staged: false,
    unchanged: false,
    warnings: [],
    function: fn,
  },
  RollbackRequest: { version: 1, reason: "version 2 answers 500" },
  RollbackResult: { from: 2, to: 1, function: fn },
  LogLine: {
    time: "2026-01-02T03:05:00.123Z",
    version: 1,
    pod: "hello-00001-6d5f7c9b8-x2k4j",
    request_id: "0b9c1f6e-3b0a-4c58-8f5a-1f2e3d4c5b6a",
    stream: "stdout",
    message: "hello",
  },
  CreateTrigger: { name: "web", ...triggerSettings },
  TriggerSettings: triggerSettings,
  PatchTrigger: { enabled: false },
  Trigger: trigger,
  WhoAmI: {
    subject: "foo",
    issuer: "https://auth.example.com",
    namespace: NAMESPACE,
    admin: false,
    expires_at: "2026-01-02T04:04:05.000Z",
    functions_domain: "fn.example.com",
  },
  Runtime: { name: "nodejs20", family: "nodejs", deprecated: false, available: true },
  Problem: problem,
} as const;
