import {
  API_GROUP_VERSION,
  FINALIZER,
  LABELS,
  versionName,
  type Function,
  type FunctionVersion,
  type RuntimeEntry,
} from "@sless/contracts";
import type { Content } from "../versions.js";

interface VersionInput {
  readonly fn: Function;
  readonly number: number;
  readonly content: Content;
  readonly runtime: RuntimeEntry;
  readonly replicas: number;
  readonly installation: string;
}

/** A numbered snapshot, owned by its Function in the same namespace, so that Kubernetes removes it with it. */
export const makeVersion = ({
  fn,
  number,
  content,
  runtime,
  replicas,
  installation,
}: VersionInput): FunctionVersion => {
  const { name, namespace = "", uid = "" } = fn.metadata;
  return {
    apiVersion: API_GROUP_VERSION,
    kind: "FunctionVersion",
    metadata: {
      name: versionName(name, number),
      namespace,
      finalizers: [FINALIZER],
      labels: {
        [LABELS.managedBy]: installation,
        [LABELS.tenant]: namespace,
        [LABELS.function]: name,
        [LABELS.functionUid]: uid,
        [LABELS.version]: String(number),
      },
      ownerReferences: [{ apiVersion: API_GROUP_VERSION, kind: "Function", name, uid, controller: true }],
    },
    spec: { functionName: name, functionUid: uid, version: number, ...content, baseImage: runtime.image, replicas },
  };
};
