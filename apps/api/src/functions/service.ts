import {
  artifactKey,
  FUNCTIONS,
  FunctionSettings,
  type CreateFunction,
  type Function,
  type FunctionSpec,
  type PatchFunction,
  type RuntimeEntry,
} from "@sless/contracts";
import { ArtifactNotFound, type ArtifactStore } from "@sless/artifacts";
import { invalidField } from "../errors.js";
import { parseBody } from "../http/field-errors.js";
import type { Change, ItemKey, Items, WriteIntent } from "../resources/items.js";
import { applyMergePatch, makeMergePatch } from "../resources/merge-patch.js";
import { requireRuntime } from "../runtimes.js";
import { toSettings, toSpec } from "./dto.js";
import { isPinned, withoutPinMarks } from "./pin.js";

export interface FunctionsOptions {
  readonly items: Items<Function>;
  readonly artifacts: Pick<ArtifactStore, "head">;
  readonly runtimes: readonly RuntimeEntry[];
}

/** Use cases of functions' settings. */
export interface Functions {
  create(namespace: string, input: CreateFunction, intent: WriteIntent): Promise<Function>;
  /** Sets everything anew but the code, which stays unless the settings name a digest. */
  replace(key: ItemKey, settings: FunctionSettings, intent: WriteIntent): Promise<Function>;
  /** Sets what the patch names; null restores a default. */
  patch(key: ItemKey, patch: PatchFunction, intent: WriteIntent): Promise<Function>;
  /** Makes stored code the function's own. A rollback's pin goes, a split that the user wrote stays. */
  activate(key: ItemKey, uid: string, codeDigest: string, intent: WriteIntent): Promise<Function>;
}

const metadataPatch = (metadata: object | undefined) => (metadata ? { metadata } : {});

/** Patch from one spec to another; with what a rollback left, when the code or the traffic changes. */
const makeChange = (current: Function, wanted: FunctionSpec, exact: boolean): Change => {
  const spec = makeMergePatch(current.spec, wanted);
  const unpins = isPinned(current) && ("s3Key" in spec || "traffic" in spec);
  return {
    patch: { ...(Object.keys(spec).length > 0 && { spec }), ...metadataPatch(unpins ? withoutPinMarks : undefined) },
    exact: exact || unpins,
  };
};

/** A rollback's traffic holds until the code changes; what the user names himself always counts. */
const keepPin = (current: Function, wanted: FunctionSpec, namesTraffic: boolean): FunctionSpec => {
  if (namesTraffic || !isPinned(current)) return wanted;
  const { traffic, ...rest } = wanted;
  const keeps = wanted.s3Key === current.spec.s3Key ? (current.spec.traffic ?? traffic) : undefined;
  return { ...rest, ...(keeps !== undefined && { traffic: keeps }) };
};

export const createFunctions = ({ items, artifacts, runtimes }: FunctionsOptions): Functions => {
  /** Where the code of these settings lies: what was there before unless they name a digest that was uploaded. */
  const locateCode = async (
    current: Function,
    codeDigest: string | undefined,
  ): Promise<Pick<FunctionSpec, "s3Key">> => {
    if (codeDigest === undefined) return current.spec.s3Key === undefined ? {} : { s3Key: current.spec.s3Key };
    const s3Key = artifactKey(current.metadata.namespace ?? "", current.metadata.uid ?? "", codeDigest);
    try {
      await artifacts.head(s3Key);
    } catch (error) {
      if (!(error instanceof ArtifactNotFound)) throw error;
      throw invalidField(
        "/code_digest",
        "names code that was not uploaded for this function; POST it to upload?stage=true",
      );
    }
    return { s3Key };
  };

  return {
    create: async (namespace, { name, ...settings }, intent) => {
      requireRuntime(runtimes, settings.runtime);
      if (settings.code_digest !== undefined) {
        throw invalidField("/code_digest", "can't be named before the function exists; create it, then upload");
      }
      const object: Function = {
        apiVersion: `${FUNCTIONS.group}/${FUNCTIONS.version}`,
        kind: "Function",
        metadata: { name, namespace },
        spec: toSpec(settings),
      };
      return items.create(object, intent);
    },

    replace: (key, settings, intent) =>
      items.change(key, intent, async (current) => {
        requireRuntime(runtimes, settings.runtime);
        const wanted = { ...toSpec(settings), ...(await locateCode(current, settings.code_digest)) };
        return makeChange(current, keepPin(current, wanted, settings.traffic !== undefined), true);
      }),

    patch: (key, patch, intent) =>
      items.change(key, intent, async (current) => {
        const { code_digest: codeDigest, ...settingsPatch } = patch;
        const merged = parseBody(FunctionSettings, applyMergePatch(toSettings(current.spec), settingsPatch));
        if (patch.runtime !== undefined) requireRuntime(runtimes, merged.runtime);
        const wanted = { ...toSpec(merged), ...(await locateCode(current, codeDigest)) };
        return makeChange(current, keepPin(current, wanted, patch.traffic !== undefined), false);
      }),

    activate: (key, uid, codeDigest, intent) =>
      // eslint-disable-next-line @typescript-eslint/require-await -- throws into the promise
      items.change(key, intent, async (current) => {
        if (current.metadata.uid !== uid) {
          throw invalidField("name", "names a function that was deleted and created anew during the upload");
        }
        const wanted = { ...current.spec, s3Key: artifactKey(key.namespace, uid, codeDigest) };
        return makeChange(current, keepPin(current, wanted, false), false);
      }),
  };
};
