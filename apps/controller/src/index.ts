export { createControllers, type Controllers, type ControllersOptions } from "./app.js";
export { startManager, type Manager, type ManagerDeps } from "./manager.js";
