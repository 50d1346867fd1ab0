export { startGateway, type Gateway, type GatewayDeps } from "./gateway.js";
