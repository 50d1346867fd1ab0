import { mkdirSync } from "node:fs";
import { deepFreeze } from "./deep-freeze.js";
import { lockDirectory } from "./directory-lock.js";
import { EventHistory, type Change } from "./event-history.js";
import { Journal, type JournalRecord } from "./journal.js";
import type { KubeObject } from "./types.js";

/** `deployments.apps`: names a kind's objects in memory and in the journal. */
export type TypeKey = string;

const objectKey = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;
const keyOf = (object: KubeObject): string => objectKey(object.metadata.namespace, object.metadata.name);

/** Versions start above 0, since "0" in a request means "any". */
const FIRST_VERSION = 1;

export type ChangeListener = (change: Change) => void;

/**
 * Versioned objects in memory with a journal beneath; it knows nothing of what the objects mean.
 * Objects are frozen and shared; listeners hear of changes in order, in a later microtask.
 */
export class Storage {
  readonly #tables = new Map<TypeKey, Map<string, KubeObject>>();
  readonly #sizes = new Map<KubeObject, number>();
  readonly #listeners = new Map<TypeKey, Set<ChangeListener>>();
  readonly #journal: Journal | undefined;
  readonly #release: () => void;
  readonly #history: EventHistory;
  #version = FIRST_VERSION;
  #liveBytes = 0;
  #queue: Change[] = [];

  private constructor(journal: Journal | undefined, release: () => void, records: JournalRecord[]) {
    this.#journal = journal;
    this.#release = release;
    const snapshotVersion = records[0]?.version ?? 0;
    this.#history = new EventHistory(Math.max(FIRST_VERSION, snapshotVersion));
    for (const record of records) this.#replay(record, snapshotVersion);
  }

  /** In memory only, without a folder. */
  static open(directory?: string): Storage {
    if (directory === undefined) return new Storage(undefined, () => undefined, []);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const release = lockDirectory(directory);
    try {
      const { journal, records } = Journal.open(directory);
      return new Storage(journal, release, records);
    } catch (error) {
      release();
      throw error;
    }
  }

  #replay(record: JournalRecord, snapshotVersion: number): void {
    this.#version = Math.max(this.#version, record.version);
    if (record.op === "start") return;
    const object = deepFreeze(record.object);
    const change = this.#apply(record.typeKey, object, record.op, JSON.stringify(object).length);
    if (record.version > snapshotVersion) this.#history.add(change);
  }

  get version(): number {
    return this.#version;
  }

  get(typeKey: TypeKey, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#tables.get(typeKey)?.get(objectKey(namespace, name));
  }

  /** The objects of a type in no particular order, now or as they were at an earlier version (410 when too old). */
  list(typeKey: TypeKey, atVersion?: number): KubeObject[] {
    const now = this.#tables.get(typeKey);
    if (atVersion === undefined || atVersion >= this.#version) return now ? [...now.values()] : [];
    const past = new Map(now);
    for (const change of this.#history.since(atVersion).reverse()) {
      if (change.typeKey !== typeKey) continue;
      if (change.before) past.set(keyOf(change.before), change.before);
      else if (change.after) past.delete(keyOf(change.after));
    }
    return [...past.values()];
  }

  /** Stores an object under the next version, which it then carries. */
  put(typeKey: TypeKey, object: KubeObject): KubeObject {
    const version = this.#version + 1;
    object.metadata.resourceVersion = String(version);
    return this.#commit({ op: "put", version, typeKey, object: deepFreeze(object) });
  }

  /** @returns the last state, under the version of the deletion */
  remove(typeKey: TypeKey, object: KubeObject): KubeObject {
    const version = this.#version + 1;
    const tombstone = {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(version) },
    };
    return this.#commit({ op: "remove", version, typeKey, object: deepFreeze(tombstone) });
  }

  #commit(record: Exclude<JournalRecord, { op: "start" }>): KubeObject {
    const bytes = this.#journal?.append(record) ?? JSON.stringify(record.object).length;
    this.#version = record.version;
    const change = this.#apply(record.typeKey, record.object, record.op, bytes);
    this.#history.add(change);
    if (this.#queue.push(change) === 1) queueMicrotask(() => this.#deliver());
    if (this.#journal?.shouldCompact(this.#liveBytes)) this.#journal.compact(this.#version, this.#snapshot());
    return record.object;
  }

  #apply(typeKey: TypeKey, object: KubeObject, op: "put" | "remove", bytes: number): Change {
    let table = this.#tables.get(typeKey);
    if (!table) this.#tables.set(typeKey, (table = new Map<string, KubeObject>()));
    const key = keyOf(object);
    const before = table.get(key);
    if (before) {
      this.#liveBytes -= this.#sizes.get(before) ?? 0;
      this.#sizes.delete(before);
    }
    const version = Number(object.metadata.resourceVersion);
    if (op === "remove") {
      table.delete(key);
      return { version, typeKey, before, after: undefined, tombstone: object, bytes };
    }
    table.set(key, object);
    this.#sizes.set(object, bytes);
    this.#liveBytes += bytes;
    return { version, typeKey, before, after: object, bytes };
  }

  *#snapshot(): Generator<JournalRecord> {
    for (const [typeKey, table] of this.#tables)
      for (const object of table.values())
        yield { op: "put", version: Number(object.metadata.resourceVersion), typeKey, object };
  }

  #deliver(): void {
    const changes = this.#queue;
    this.#queue = [];
    for (const change of changes)
      for (const listener of [...(this.#listeners.get(change.typeKey) ?? [])]) listener(change);
  }

  /** The kept changes of a type after a version; 410 Expired when some are gone. */
  changesSince(typeKey: TypeKey, version: number): Change[] {
    return this.#history.since(version).filter((change) => change.typeKey === typeKey);
  }

  /** Hears of changes that are delivered from now on: some of them may be older than the current version. */
  subscribe(typeKey: TypeKey, listener: ChangeListener): () => void {
    let listeners = this.#listeners.get(typeKey);
    if (!listeners) this.#listeners.set(typeKey, (listeners = new Set()));
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#journal?.close();
    this.#release();
  }
}
