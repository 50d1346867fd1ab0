/** The least that node:http does for an answer: what the runtime's cost is held against. */
import { createServer } from "node:http";

createServer((request, response) => {
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end("hello");
}).listen(Number(process.env.PORT), process.env.HOST);
