const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * The limits table: one place for every bound that a user can meet. Bytes unless the name says otherwise. Those with a
 * setting are defaults; the others stand in the CRD schemas and can't be raised by an operator.
 */
export const LIMITS = {
  /** An uploaded zip. Setting: SLESS_MAX_UPLOAD_BYTES. */
  uploadBytes: 50 * MIB,
  /** All files of a zip unpacked. Setting: SLESS_MAX_UNPACKED_BYTES. */
  unpackedBytes: 250 * MIB,
  /** One file of a zip unpacked. */
  fileBytes: 200 * MIB,
  /** Files and folders in a zip. Setting: SLESS_MAX_ENTRIES. */
  entries: 20_000,
  /** Unpacked over packed size, once more than `compressionFloorBytes` come out. */
  compressionRatio: 200,
  compressionFloorBytes: 8 * MIB,
  /** Path of one file in a zip, in UTF-8. */
  pathBytes: 1024,
  /** A call's body and a buffered answer's. Setting: SLESS_MAX_BODY_BYTES. */
  callBodyBytes: 6 * MIB,
  /** A JSON body of the REST API. */
  requestBodyBytes: 1 * MIB,
  jsonDepth: 32,
  /** Environment of one function: variables, one value, and names plus values in all. */
  envVars: 100,
  envValueBytes: 32 * KIB,
  envBytes: 128 * KIB,
  entrypointLength: 200,
  memoryMB: { min: 64, max: 8192, default: 128 },
  timeoutSec: { min: 1, max: 900, default: 30 },
  replicas: { min: 1, max: 100, default: 1 },
  concurrency: { min: 1, max: 1000, default: 1 },
  keepVersions: { min: 1, max: 50, default: 5 },
  trafficTargets: 10,
  hosts: 50,
  methods: 9,
  /** `spec.http.path` of a trigger. */
  triggerPathLength: 256,
  /** A condition's message, and `status.message`. */
  messageLength: 2048,
  /** Longest wait of a long poll, seconds. */
  waitSeconds: 300,
  /** Items of one page of a list: default and most. */
  pageSize: { default: 100, max: 500 },
} as const;
