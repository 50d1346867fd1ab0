export { createApp, type AppConfig, type AppDeps } from "./app.js";
export { runApi, type RunningApi } from "./run-api.js";
export { startServer, type ApiServer } from "./server.js";
