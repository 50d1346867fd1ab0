import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the gateway got it. */
export interface SeenCall {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A gateway that answers as told. */
export interface FakeGateway {
  readonly url: string;
  readonly calls: SeenCall[];
  /** Answers a call whose body has been read. Default: 200 `ok`. */
  answer: (call: SeenCall, res: ServerResponse) => void;
  close(): Promise<void>;
}

const readAll = async (req: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("latin1");
};

export const startFakeGateway = async (): Promise<FakeGateway> => {
  const server = createServer((req, res) => {
    readAll(req).then(
      (body) => {
        const call = { method: req.method ?? "", url: req.url ?? "", headers: req.headers, body };
        gateway.calls.push(call);
        gateway.answer(call, res);
      },
      () => res.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const gateway: FakeGateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    answer: (_call, res) => void res.end("ok"),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return gateway;
};
