export { openFront, VERSION_UID, WORKLOADS, type Front } from "./front.js";
export { openRaw, sendRaw } from "./raw-client.js";
export {
  echo,
  startScriptedRuntime,
  type ReceivedCall,
  type Script,
  type ScriptedRuntime,
} from "./scripted-runtime.js";
