import { createHash, randomUUID, type Hash } from "node:crypto";
import { mkdir, open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { RegistryError } from "./errors.js";
import type { Digest } from "./names.js";

interface Session {
  repository: string;
  file: string;
  handle: FileHandle;
  hash: Hash;
  offset: number;
  busy: boolean;
  touched: number;
}

/** A blob on its way in. A session lives in memory alone: after a restart the client is told to begin anew. */
export interface Uploads {
  /** @returns id of the new session */
  start(repository: string): Promise<string>;
  /** Appends a body; `at` is the offset that the client believes in. @returns the new offset */
  append(id: string, repository: string, chunk: { body: AsyncIterable<Buffer>; at?: number }): Promise<number>;
  offset(id: string, repository: string): number;
  /** Ends the session. @returns the file with the verified content, to be moved away by the caller */
  finish(id: string, repository: string, digest: Digest): Promise<string>;
  cancel(id: string, repository: string): Promise<void>;
  close(): Promise<void>;
}

export interface UploadLimits {
  maxBlobBytes: number;
  maxSessions: number;
  idleMs: number;
}

/** @param folder for unfinished files; what a dead process left in it is removed first */
export const createUploads = async (folder: string, limits: UploadLimits): Promise<Uploads> => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const sessions = new Map<string, Session>();

  const find = (id: string, repository: string): Session => {
    const session = sessions.get(id);
    if (!session || session.repository !== repository) {
      throw new RegistryError("BLOB_UPLOAD_UNKNOWN", "no such upload: start it again", id);
    }
    session.touched = Date.now();
    return session;
  };
  const drop = async (id: string, session: Session): Promise<void> => {
    sessions.delete(id);
    await session.handle.close();
    await rm(session.file, { force: true });
  };
  const dropIdle = async (): Promise<void> => {
    const oldest = Date.now() - limits.idleMs;
    const idle = [...sessions].filter(([, session]) => !session.busy && session.touched < oldest);
    await Promise.all(idle.map(([id, session]) => drop(id, session)));
  };

  const write = async (session: Session, body: AsyncIterable<Buffer>): Promise<void> => {
    for await (const part of body) {
      if (session.offset + part.length > limits.maxBlobBytes) {
        throw new RegistryError("SIZE_INVALID", `a blob may have at most ${limits.maxBlobBytes} bytes`);
      }
      session.hash.update(part);
      await session.handle.write(part);
      session.offset += part.length;
    }
  };

  return {
    async start(repository) {
      await dropIdle();
      if (sessions.size >= limits.maxSessions) {
        throw new RegistryError("TOOMANYREQUESTS", `${limits.maxSessions} uploads are open: finish some first`);
      }
      const id = randomUUID();
      const file = join(folder, id);
      const handle = await open(file, "wx", 0o600);
      const state = { offset: 0, busy: false, touched: Date.now() };
      sessions.set(id, { repository, file, handle, hash: createHash("sha256"), ...state });
      return id;
    },
    async append(id, repository, { body, at }) {
      const session = find(id, repository);
      if (session.busy || (at !== undefined && at !== session.offset)) {
        throw new RegistryError("BLOB_UPLOAD_INVALID", `the upload stands at byte ${session.offset}`);
      }
      session.busy = true;
      try {
        await write(session, body);
      } catch (error) {
        // Bytes of a broken body are already in the hash: what was sent cannot be taken back, so the session ends.
        await drop(id, session);
        throw error;
      } finally {
        session.busy = false;
      }
      return session.offset;
    },
    offset: (id, repository) => find(id, repository).offset,
    async finish(id, repository, digest) {
      const session = find(id, repository);
      const actual = `sha256:${session.hash.digest("hex")}`;
      if (actual !== digest) {
        await drop(id, session);
        throw new RegistryError("DIGEST_INVALID", `content has digest ${actual}`, digest);
      }
      sessions.delete(id);
      await session.handle.datasync();
      await session.handle.close();
      return session.file;
    },
    async cancel(id, repository) {
      await drop(id, find(id, repository));
    },
    async close() {
      await Promise.all([...sessions].map(([id, session]) => drop(id, session)));
    },
  };
};
