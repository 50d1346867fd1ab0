import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { startFakeRegistry, type FakeRegistry } from "@sless/testing";
import { parseChallenges } from "./challenge.js";
import { createRegistryClient } from "./client.js";
import { sha256Digest } from "./verify.js";

const REPO = "fn/sless-0123456789abcdef";
const credentials = { username: "sless", password: "s3cret" };
const BASIC = `Basic ${Buffer.from("sless:s3cret").toString("base64")}`;
const blob = Buffer.from("a layer");
const source = { open: () => Promise.resolve(Readable.from([blob])) };

let registry: FakeRegistry;
beforeEach(async () => {
  registry = await startFakeRegistry();
});
afterEach(() => registry.close());

/** A token service beside the registry that counts what it gave. */
async function startTokenService(answer: (scopes: string[], count: number) => { status?: number; body: unknown }) {
  const seen: { scopes: string[]; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const scopes = new URL(request.url ?? "", "http://x").searchParams.getAll("scope");
    seen.push({ scopes, authorization: request.headers.authorization });
    const { status = 200, body } = answer(scopes, seen.length);
    response.writeHead(status).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    seen,
    realm: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Makes the registry demand one of these bearer tokens. */
function demandBearer(realm: string, valid: (token: string) => boolean, before = ""): void {
  registry.intercept = ({ headers }, response) => {
    if (valid((headers.authorization ?? "").replace(/^Bearer /, ""))) return false;
    response.writeHead(401, { "www-authenticate": `${before}Bearer realm="${realm}",service="reg, istry"` }).end();
    return true;
  };
}

describe("Basic", () => {
  it("logs in when asked and keeps the login", async () => {
    registry.intercept = ({ headers }, response) => {
      if (headers.authorization === BASIC) return false;
      response.writeHead(401, { "www-authenticate": 'Basic realm="r"' }).end();
      return true;
    };
    const client = createRegistryClient({ url: registry.url, credentials });
    await client.uploadBlob(REPO, source);
    await client.uploadBlob(REPO, source);
    expect(registry.requests.filter(({ headers }) => headers.authorization === undefined)).toHaveLength(1);
    await client.close();
  });

  it("takes no request that was on its way before the login for a refused password", async () => {
    const waiting: (() => void)[] = [];
    registry.intercept = ({ headers }, response) => {
      if (headers.authorization === BASIC) return false;
      const refuse = () => response.writeHead(401, { "www-authenticate": 'Basic realm="r"' }).end();
      waiting.push(refuse);
      if (waiting.length === 2) waiting.forEach((each) => each());
      return true;
    };
    const client = createRegistryClient({ url: registry.url, credentials });
    await Promise.all([client.uploadBlob(REPO, source), client.uploadBlob(REPO, source)]);
    expect(waiting).toHaveLength(2);
    await client.close();
  });

  it.each([
    { name: "a wrong password", given: credentials, message: /refuses this username and password/ },
    { name: "no password", given: undefined, message: /set its username and password/ },
  ])("says so with $name, after at most two tries", async ({ given, message }) => {
    registry.intercept = (_request, response) => {
      response.writeHead(401, { "www-authenticate": 'Basic realm="r"' }).end();
      return true;
    };
    const client = createRegistryClient({ url: registry.url, ...(given ? { credentials: given } : {}) });
    await expect(client.check()).rejects.toThrow(message);
    expect(registry.requests.length).toBeLessThanOrEqual(2);
    await client.close();
  });
});

describe("Bearer", () => {
  it("D20: is used wherever it stands among the challenges, with a token named access_token and no lifetime", async () => {
    const tokens = await startTokenService(() => ({ body: { access_token: "t0k" } }));
    demandBearer(tokens.realm, (token) => token === "t0k", 'Basic realm="x", ');
    const client = createRegistryClient({ url: registry.url, credentials });
    await client.uploadBlob(REPO, source);
    expect(tokens.seen).toEqual([{ scopes: [`repository:${REPO}:pull,push`], authorization: BASIC }]);
    expect(registry.requests.every(({ headers }) => headers.authorization !== BASIC)).toBe(true);
    await Promise.all([client.close(), tokens.close()]);
  });

  it("asks for both repositories to mount, and keeps tokens by what they allow", async () => {
    const tokens = await startTokenService((scopes) => ({ body: { token: scopes.join("+") } }));
    demandBearer(tokens.realm, (token) => token !== "");
    const digest = registry.addBlob("base/node", blob);
    const client = createRegistryClient({ url: registry.url, credentials });
    for (let i = 0; i < 2; i++) expect(await client.mountBlob(REPO, { digest, from: "base/node" })).toBe(true);
    await client.uploadBlob(REPO, source);
    expect(tokens.seen.map(({ scopes }) => scopes)).toEqual([
      [`repository:${REPO}:pull,push`, "repository:base/node:pull"],
      [`repository:${REPO}:pull,push`],
    ]);
    await Promise.all([client.close(), tokens.close()]);
  });

  it("D16: (a) a refused token for the base repository means copy instead", async () => {
    const tokens = await startTokenService((scopes) =>
      scopes.length > 1 ? { status: 403, body: {} } : { body: { token: "t" } },
    );
    demandBearer(tokens.realm, (token) => token === "t");
    const digest = registry.addBlob("base/node", blob);
    const client = createRegistryClient({ url: registry.url, credentials });
    expect(await client.mountBlob(REPO, { digest, from: "base/node" })).toBe(false);
    expect((await client.uploadBlob(REPO, source)).digest).toBe(digest);
    await Promise.all([client.close(), tokens.close()]);
  });

  it("D20: logs in once more when the token dies in the middle of a push", async () => {
    const tokens = await startTokenService((_scopes, count) => ({ body: { token: `t${count}`, expires_in: 3600 } }));
    let uses = 0;
    demandBearer(tokens.realm, (token) => token === "t2" || (token === "t1" && ++uses <= 3));
    const client = createRegistryClient({ url: registry.url, credentials });
    for (let i = 0; i < 3; i++) await client.uploadBlob(REPO, source);
    expect(tokens.seen).toHaveLength(2);
    expect(registry.openUploads()).toBe(0);
    await Promise.all([client.close(), tokens.close()]);
  });

  it("stops when each new token is refused", async () => {
    const tokens = await startTokenService(() => ({ body: { token: "t" } }));
    demandBearer(tokens.realm, () => false);
    const client = createRegistryClient({ url: registry.url, credentials });
    await expect(client.uploadBlob(REPO, source)).rejects.toThrow(/refuses the login that it has just given/);
    expect(tokens.seen).toHaveLength(3);
    await Promise.all([client.close(), tokens.close()]);
  });
});

describe("credentials", () => {
  it("D20: do not follow a redirect of a blob to another origin", async () => {
    const storage = await startFakeRegistry();
    storage.intercept = (_request, response) => {
      response.end(blob);
      return true;
    };
    registry.intercept = ({ headers }, response) => {
      if (headers.authorization === undefined) response.writeHead(401, { "www-authenticate": "Basic realm=r" }).end();
      else response.writeHead(307, { location: `${storage.url}/bucket/blob?sig=1` }).end();
      return true;
    };
    const client = createRegistryClient({ url: registry.url, credentials });
    expect(await client.readBlob(REPO, sha256Digest(blob), 100)).toEqual(blob);
    expect(storage.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    await Promise.all([client.close(), storage.close()]);
  });

  it("do not go with an upload that the registry sends to another origin", async () => {
    const storage = await startFakeRegistry();
    storage.intercept = (_request, response) => {
      response.writeHead(201).end();
      return true;
    };
    registry.intercept = ({ headers }, response) => {
      if (headers.authorization === undefined) response.writeHead(401, { "www-authenticate": "Basic realm=r" }).end();
      else response.writeHead(202, { location: `${storage.url}/upload?_state=1` }).end();
      return true;
    };
    const client = createRegistryClient({ url: registry.url, credentials });
    await client.uploadBlob(REPO, source);
    expect(storage.requests.map(({ method, headers }) => [method, headers.authorization])).toEqual([
      ["PUT", undefined],
    ]);
    expect(storage.requests[0]?.url).toContain("_state=1&digest=sha256");
    await Promise.all([client.close(), storage.close()]);
  });
});

describe("parseChallenges", () => {
  it.each([
    { header: undefined, want: [] },
    { header: "Basic", want: [["basic", {}]] },
    {
      header: 'Basic realm="a, b", Bearer realm="https://r/t",scope="x:y:pull,push"',
      want: [
        ["basic", { realm: "a, b" }],
        ["bearer", { realm: "https://r/t", scope: "x:y:pull,push" }],
      ],
    },
    {
      header: ["Negotiate", 'bearer  realm = "q\\"q" , service=s'],
      want: [
        ["negotiate", {}],
        ["bearer", { realm: 'q"q', service: "s" }],
      ],
    },
    { header: ',,, "', want: [] },
  ])("reads $header", ({ header, want }) => {
    expect(parseChallenges(header).map(({ scheme, params }) => [scheme, Object.fromEntries(params)])).toEqual(want);
  });

  it("security 22: takes linear time for a hostile header", () => {
    const start = performance.now();
    parseChallenges(`Bearer ${'a="\\"'.repeat(100_000)}`);
    parseChallenges(`Bearer a=${" ".repeat(100_000)}`);
    expect(performance.now() - start).toBeLessThan(500);
  });
});
