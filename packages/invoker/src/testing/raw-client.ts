import { connect, type Socket } from "node:net";
import { once } from "node:events";

/** Sends bytes as they are and reads until the other side closes. @returns the answer as Latin-1 text */
export const sendRaw = async (port: number, bytes: string | Buffer): Promise<string> => {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  await once(socket, "close");
  return text;
};

/** Opens a connection for a test that writes step by step. */
export const openRaw = async (port: number): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
};
