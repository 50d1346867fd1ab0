import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { ReadableStream as WebReadableStream } from "node:stream/web";
import type { BasicCredentials } from "../../registry/basic-auth.js";
import type { ImageReference } from "./reference.js";
import { ImageError } from "./unpack-layer.js";

export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { os?: string; architecture?: string };
}

export interface Manifest {
  digest: string;
  config: Descriptor;
  layers: Descriptor[];
}

/** What an image says about how it runs. */
export interface ImageConfig {
  Entrypoint?: string[] | null;
  Cmd?: string[] | null;
  Env?: string[] | null;
  WorkingDir?: string;
  Labels?: Record<string, string> | null;
}

export interface RegistryReader {
  manifest(image: ImageReference): Promise<Manifest>;
  config(image: ImageReference, manifest: Manifest): Promise<{ config: ImageConfig; diffIds: string[] }>;
  layer(image: ImageReference, layer: Descriptor): Promise<Readable>;
}

const TIMEOUT_MS = 30_000;
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;
const ACCEPT = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
].join(", ");

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", arm64: "arm64" };

const sha256 = (body: Buffer): string => `sha256:${createHash("sha256").update(body).digest("hex")}`;

/** The registry's own words, as a user needs them to tell a wrong login from a missing image. */
const refusalOf = async (res: Response, what: string): Promise<ImageError> => {
  const text = (await res.text().catch(() => "")).slice(0, 4096);
  let reason = res.statusText;
  try {
    const [error] = (JSON.parse(text) as { errors: { code: string; message: string }[] }).errors;
    if (error) reason = `${error.code.toLowerCase().replaceAll("_", " ")}: ${error.message}`;
  } catch {
    // Not every registry, and no proxy before one, answers in the specification's form: the status has to do.
  }
  return new ImageError(`failed to pull ${what}: ${res.status} ${reason}`);
};

const readDocument = async (res: Response): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of res.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > MAX_DOCUMENT_BYTES)
      throw new ImageError(`manifest or config is larger than ${MAX_DOCUMENT_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
};

const parse = <T>(body: Buffer, what: string): T => {
  try {
    return JSON.parse(body.toString("utf8")) as T;
  } catch {
    throw new ImageError(`${what} is not JSON`);
  }
};

/** Reads images over the distribution protocol with a Basic login; every byte is hashed here, no header is believed. */
export const createRegistryReader = (credentials: BasicCredentials | undefined): RegistryReader => {
  const authorization = credentials && {
    Authorization: `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64")}`,
  };

  const get = async (image: ImageReference, path: string, what: string): Promise<Response> => {
    const url = `http://${image.host}/v2/${image.repository}/${path}`;
    let res: Response;
    try {
      res = await fetch(url, {
        headers: { Accept: ACCEPT, ...authorization },
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      throw new ImageError(`failed to pull ${what}: ${image.host} does not answer (${(error as Error).message})`);
    }
    if (!res.ok) throw await refusalOf(res, what);
    return res;
  };
  const getDocument = async (image: ImageReference, path: string, digest: string | undefined) => {
    const what = `"${image.host}/${image.repository}"`;
    const body = await readDocument(await get(image, path, what));
    if (digest && sha256(body) !== digest)
      throw new ImageError(`${path} has digest ${sha256(body)}, expected ${digest}`);
    return body;
  };

  const manifest = async (image: ImageReference): Promise<Manifest> => {
    const pinned = image.reference.startsWith("sha256:") ? image.reference : undefined;
    const body = await getDocument(image, `manifests/${image.reference}`, pinned);
    const parsed = parse<Partial<Manifest> & { manifests?: Descriptor[] }>(body, "manifest");
    if (parsed.manifests) return manifest({ ...image, reference: chooseChild(parsed.manifests).digest });
    if (!parsed.config || !parsed.layers) throw new ImageError("manifest has neither layers nor manifests");
    return { digest: sha256(body), config: parsed.config, layers: parsed.layers };
  };

  return {
    manifest,
    async config(image, { config }) {
      const body = await getDocument(image, `blobs/${config.digest}`, config.digest);
      const parsed = parse<{ config?: ImageConfig; rootfs?: { diff_ids?: string[] } }>(body, "image config");
      return { config: parsed.config ?? {}, diffIds: parsed.rootfs?.diff_ids ?? [] };
    },
    async layer(image, layer) {
      const res = await get(image, `blobs/${layer.digest}`, `layer ${layer.digest}`);
      return Readable.fromWeb(res.body as WebReadableStream);
    },
  };
};

/** The child of an index for this machine. Pods run the machine's own interpreters, so only the architecture counts. */
const chooseChild = (manifests: Descriptor[]): Descriptor => {
  const wanted = ARCHITECTURES[process.arch] ?? process.arch;
  const child = manifests.find(({ platform }) => platform?.os === "linux" && platform.architecture === wanted);
  if (!child) throw new ImageError(`no match for platform linux/${wanted} in the index`);
  return child;
};
