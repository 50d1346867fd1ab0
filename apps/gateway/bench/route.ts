/** The one route of the benchmark. */
export const VERSION_UID = "5f0c1a52-0000-4000-8000-000000000001";
export const HOST = "hello-01234567.fn.test";
