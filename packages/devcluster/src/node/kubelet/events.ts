import { randomBytes } from "node:crypto";
import { ApiStatusError } from "../../store/api-status-error.js";
import type { ClusterStore, KubeObject } from "../../store/types.js";
import { EVENTS, kubeTime } from "../objects.js";

export interface EventRecorder {
  /** Writes an Event about an object, or counts up the one that says the same already. Never throws. */
  record(object: KubeObject, type: "Normal" | "Warning", reason: string, message: string): void;
}

/** Events per namespace; the oldest goes when another comes. */
const MAX_EVENTS = 500;
const MAX_MESSAGE = 1024;

interface EventObject extends KubeObject {
  count?: number;
  lastTimestamp?: string;
}

export const createEventRecorder = (store: ClusterStore, component: string): EventRecorder => {
  /** Names of the events written, by what they say; insertion order is age. */
  const written = new Map<string, Map<string, string>>();

  const countUp = (namespace: string, name: string): boolean => {
    const event = store.get(EVENTS, namespace, name) as EventObject | undefined;
    if (!event) return false;
    const { resourceVersion: _, ...metadata } = event.metadata;
    store.update(EVENTS, { ...event, metadata, count: (event.count ?? 1) + 1, lastTimestamp: kubeTime(Date.now()) });
    return true;
  };
  const trim = (namespace: string, names: Map<string, string>): void => {
    const [oldest] = names;
    if (names.size <= MAX_EVENTS || !oldest) return;
    names.delete(oldest[0]);
    if (store.get(EVENTS, namespace, oldest[1])) store.delete(EVENTS, namespace, oldest[1]);
  };
  const write = (object: KubeObject, fields: { type: string; reason: string; message: string }): void => {
    const { namespace = "default", name, uid = "", resourceVersion = "" } = object.metadata;
    const names = written.get(namespace) ?? new Map<string, string>();
    written.set(namespace, names);
    const key = JSON.stringify([uid, fields.reason, fields.message]);
    const existing = names.get(key);
    if (existing !== undefined && countUp(namespace, existing)) return;
    const time = kubeTime(Date.now());
    const eventName = `${name.slice(0, 200)}.${randomBytes(8).toString("hex")}`;
    store.create(EVENTS, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: eventName, namespace },
      involvedObject: { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid, resourceVersion },
      ...fields,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component },
      reportingComponent: component,
      reportingInstance: component,
    });
    names.delete(key);
    names.set(key, eventName);
    trim(namespace, names);
  };

  return {
    record(object, type, reason, message) {
      try {
        write(object, { type, reason, message: message.slice(0, MAX_MESSAGE) });
      } catch (error) {
        // An event is a courtesy: in a namespace that is going there is no place for it.
        if (!(error instanceof ApiStatusError)) throw error;
      }
    },
  };
};
