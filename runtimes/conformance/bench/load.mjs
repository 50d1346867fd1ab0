/**
 * Sends a number of requests over kept connections, one at a time on each, as the gateway does, and ends. In a process
 * of its own, so that its cost is not the server's.
 */
import { connect } from "node:net";

const [host, port, connections, requests] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const REQUEST = Buffer.from(
  [
    "GET /hello?name=world HTTP/1.1",
    "host: hello-1a2b3c4d.functions.example.com",
    "user-agent: Mozilla/5.0 (X11; Linux x86_64)",
    "accept: */*",
    "accept-encoding: gzip, deflate, br",
    "x-forwarded-for: 192.0.2.7",
    "x-sless-request-id: 0f8fad5b-d9cb-469f-a165-70867728950e",
    "x-sless-deadline-ms: 30000",
    "x-sless-version-uid: bench",
    "\r\n",
  ].join("\r\n"),
);
const OK = Buffer.from("HTTP/1.1 200");
const END_OF_BODY = Buffer.from("\r\n\r\nhello");
const MAX_ANSWER_BYTES = 4096;

let left = requests;
let open = connections;

const drive = (socket) => {
  const next = () => {
    if (left-- > 0) socket.write(REQUEST);
    else socket.end();
  };
  // Some servers send head and body apart.
  let answer = Buffer.alloc(0);
  let answered = false;
  socket.on("connect", next);
  socket.on("data", (bytes) => {
    answer = answer.length === 0 ? bytes : Buffer.concat([answer, bytes]);
    if (!answer.subarray(0, 12).equals(OK) || answer.length > MAX_ANSWER_BYTES) {
      throw new Error(`not the expected answer: ${answer.toString()}`);
    }
    if (!answer.subarray(-END_OF_BODY.length).equals(END_OF_BODY)) return;
    const isLast = answer.includes("\r\nConnection: close");
    answer = Buffer.alloc(0);
    answered = true;
    if (isLast) socket.end();
    else next();
  });
  socket.on("close", () => {
    // A server that keeps no connection gets a new one for each request, as it would from any client.
    if (answered && left > 0) start();
    else if (--open === 0) process.exit(left <= 0 ? 0 : 1);
  });
};

const start = () => drive(connect({ host, port, noDelay: true }));
for (let i = 0; i < connections; i++) start();
