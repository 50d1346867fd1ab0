import {
  alreadyExists,
  ApiStatusError,
  badRequest,
  conflict,
  forbidden,
  notFound,
  qualifiedResource,
} from "../store/api-status-error.js";
import { parseFieldSelector, parseLabelSelector } from "../store/selectors.js";
import type { Storage, TypeKey } from "../store/storage.js";
import type {
  DeleteOptions,
  KubeObject,
  ListOptions,
  NewKubeObject,
  ObjectList,
  ResourceRef,
  ResourceType,
  UpdateOptions,
  WatchListener,
  WatchOptions,
} from "../store/types.js";
import { startWatch, type Matches } from "../store/watch.js";
import { DefinitionRegistrar } from "./crd/definition-registrar.js";
import { invalid, invalidObject, type FieldError } from "./objects/field-error.js";
import { markDeleted } from "./objects/deletion.js";
import type { KindRules } from "./objects/kind-rules.js";
import {
  bumpGeneration,
  draftForCreate,
  draftForUpdate,
  sameContent,
  validateMetadata,
  validateMetadataUpdate,
} from "./objects/metadata.js";
import { managedFieldsAfter, type TrackedWrite } from "./objects/tracking.js";
import type { ServedStore, ServedWriteOptions } from "./served-store.js";
import type { ServedType, TypeCatalogue } from "./type-catalogue.js";

export interface ClusterStoreDeps {
  storage: Storage;
  catalogue: TypeCatalogue;
  clock: () => number;
}

const keyOf = (type: ResourceRef): TypeKey => qualifiedResource(type);

/** The type key of custom resource definitions: each one's state decides what else is served. */
const DEFINITIONS: TypeKey = "customresourcedefinitions.apiextensions.k8s.io";

const OBJECT_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

const throwIfAny = (type: ResourceType, name: string, errors: readonly FieldError[]): void => {
  if (errors.length > 0) throw invalidObject(type, name, errors);
};

const byNamespaceAndName = (a: KubeObject, b: KubeObject): number => {
  const left = `${a.metadata.namespace ?? ""}/${a.metadata.name}`;
  const right = `${b.metadata.namespace ?? ""}/${b.metadata.name}`;
  return left < right ? -1 : Number(left > right);
};

/** The rules of the API server over a {@link Storage}. */
export class RuledClusterStore implements ServedStore {
  readonly #storage: Storage;
  readonly #catalogue: TypeCatalogue;
  readonly #clock: () => number;
  readonly #definitions: DefinitionRegistrar;

  constructor({ storage, catalogue, clock }: ClusterStoreDeps) {
    this.#storage = storage;
    this.#catalogue = catalogue;
    this.#clock = clock;
    this.#definitions = new DefinitionRegistrar(catalogue);
    for (const definition of storage.list(DEFINITIONS)) this.#definitions.put(definition);
  }

  resourceTypes(): readonly ResourceType[] {
    return this.#catalogue.types();
  }

  find(ref: ResourceRef): ServedType | undefined {
    return this.#catalogue.find(ref);
  }

  #resolve(ref: ResourceRef): { type: ResourceType; rules: KindRules } {
    const found = this.#catalogue.find(ref);
    if (!found) throw new ApiStatusError(404, "NotFound", "the server could not find the requested resource");
    return found;
  }

  get(ref: ResourceRef, namespace: string | undefined, name: string): KubeObject | undefined {
    const { type } = this.#resolve(ref);
    return this.#storage.get(keyOf(type), type.namespaced ? namespace : undefined, name);
  }

  list(ref: ResourceRef, options: ListOptions = {}): ObjectList {
    return this.listAt(ref, options, undefined);
  }

  /** The list as it was at a version: what later pages of a long list read. 410 Expired when it is too old. */
  listAt(ref: ResourceRef, options: ListOptions, version: number | undefined): ObjectList {
    const { type } = this.#resolve(ref);
    const items = this.#storage.list(keyOf(type), version).filter(this.#matcher(type, options));
    return {
      items: items.sort(byNamespaceAndName),
      resourceVersion: String(version ?? this.#storage.version),
    };
  }

  #matcher(type: ResourceType, options: ListOptions): Matches {
    const labels = parseLabelSelector(options.labelSelector);
    const fields = parseFieldSelector(options.fieldSelector, type.kind);
    const namespace = type.namespaced ? options.namespace : undefined;
    return (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      (labels?.(object) ?? true) &&
      (fields?.(object) ?? true);
  }

  create(ref: ResourceRef, object: NewKubeObject, options: ServedWriteOptions = {}): KubeObject {
    const { type, rules } = this.#resolve(ref);
    const draft = this.#draftCreate(type, rules, object);
    const { name, namespace } = draft.metadata;
    throwIfAny(type, name, [...validateMetadata(draft, rules), ...(rules.validate?.(draft) ?? [])]);
    if (this.#storage.get(keyOf(type), namespace, name)) throw alreadyExists(type, name);
    this.#setManagers({ type, rules, current: undefined, draft, options, now: this.#clock() });
    this.#refuseNameConflict(type, draft);
    return options.dryRun ? draft : this.#put(type, draft);
  }

  #draftCreate(type: ResourceType, rules: KindRules, object: NewKubeObject): KubeObject {
    if (object.metadata.resourceVersion)
      throw new ApiStatusError(500, "", "resourceVersion should not be set on objects to be created");
    const draft = draftForCreate(type, object, this.#clock());
    if (type.namespaced) this.#requireNamespace(type, draft.metadata.name, draft.metadata.namespace);
    if (rules.statusIsSubresource) delete draft["status"];
    if (rules.countsGeneration) draft.metadata.generation = 1;
    rules.prepare?.(draft);
    rules.prepareForCreate?.(draft);
    return draft;
  }

  #put(type: ResourceType, draft: KubeObject): KubeObject {
    const stored = this.#storage.put(keyOf(type), draft);
    if (keyOf(type) === DEFINITIONS) this.#definitions.put(stored);
    return stored;
  }

  #remove(type: ResourceType, object: KubeObject): KubeObject {
    const removed = this.#storage.remove(keyOf(type), object);
    if (keyOf(type) === DEFINITIONS) this.#definitions.remove(removed);
    return removed;
  }

  #refuseNameConflict(type: ResourceType, draft: KubeObject): void {
    if (keyOf(type) !== DEFINITIONS) return;
    const why = this.#definitions.conflictOf(draft);
    if (why) throw invalidObject(type, draft.metadata.name, [invalid("spec.names", draft.metadata.name, why)]);
  }

  #requireNamespace(type: ResourceType, name: string, namespace: string | undefined): void {
    if (!namespace) throw badRequest("an empty namespace may not be set during creation");
    const found = this.#storage.get("namespaces", undefined, namespace);
    if (!found) throw notFound({ group: "", plural: "namespaces" }, namespace);
    if (!found.metadata.deletionTimestamp) return;
    throw forbidden(
      type,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    );
  }

  update(ref: ResourceRef, object: KubeObject, options: UpdateOptions & ServedWriteOptions = {}): KubeObject {
    const { type, rules } = this.#resolve(ref);
    const { name } = object.metadata;
    const current = this.get(type, object.metadata.namespace, name);
    if (!current) throw notFound(type, name);
    this.#checkPreconditions(type, current, object.metadata);
    const draft = this.#draftUpdate(rules, object, current, options);
    throwIfAny(type, name, [
      ...validateMetadata(draft, rules),
      ...validateMetadataUpdate(draft, current),
      ...(rules.validate?.(draft, current) ?? []),
      ...(rules.validateUpdate?.(draft, current) ?? []),
    ]);
    this.#setManagers({ type, rules, current, draft, options, now: this.#clock() });
    if (sameContent(draft, current)) return current;
    if (options.dryRun) return draft;
    return isReleased(draft) ? this.#storage.remove(keyOf(type), draft) : this.#storage.put(keyOf(type), draft);
  }

  #draftUpdate(rules: KindRules, object: KubeObject, current: KubeObject, options: UpdateOptions): KubeObject {
    const ofStatus = options.subresource === "status";
    const draft = ofStatus
      ? { ...structuredClone(current), status: structuredClone(object["status"]) }
      : draftForUpdate(object, current);
    if (draft.status === undefined) delete draft.status;
    if (!ofStatus && rules.statusIsSubresource) keepStatus(draft, current);
    rules.prepare?.(draft);
    if (!ofStatus) rules.prepareForUpdate?.(draft, current);
    bumpGeneration(draft, current, rules);
    return draft;
  }

  /** An apply brings its managers along; any other write is worked out from what it changed. */
  #setManagers(write: TrackedWrite & { options: ServedWriteOptions }): void {
    const { metadata } = write.draft;
    metadata.managedFields = write.options.managedFields ?? managedFieldsAfter(write);
    if (metadata.managedFields.length === 0) delete metadata.managedFields;
    write.rules.finish?.(write.draft);
  }

  #checkPreconditions(
    type: ResourceType,
    current: KubeObject,
    { uid, resourceVersion }: { uid?: string | undefined; resourceVersion?: string | undefined },
  ): void {
    const { metadata } = current;
    if (uid && uid !== metadata.uid)
      throw conflict(
        type,
        metadata.name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
      );
    if (resourceVersion && resourceVersion !== metadata.resourceVersion)
      throw conflict(type, metadata.name, OBJECT_MODIFIED);
  }

  delete(ref: ResourceRef, namespace: string | undefined, name: string, options: DeleteOptions = {}): KubeObject {
    const { type, rules } = this.#resolve(ref);
    const current = this.get(type, namespace, name);
    if (!current) throw notFound(type, name);
    this.#checkDeletePreconditions(type, current, options);
    const draft = structuredClone(current);
    markDeleted(draft, rules, options, this.#clock());
    bumpGeneration(draft, current, rules);
    if (options.dryRun) return draft;
    if (isReleased(draft)) return this.#remove(type, current);
    return sameContent(draft, current) ? current : this.#put(type, draft);
  }

  #checkDeletePreconditions(type: ResourceType, current: KubeObject, options: DeleteOptions): void {
    const { name, uid, resourceVersion } = current.metadata;
    // Messages of deletions name the kind where those of updates name the resource.
    const named = { group: type.group, plural: type.kind };
    if (options.uid && options.uid !== uid)
      throw conflict(
        named,
        name,
        `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
      );
    if (options.resourceVersion && options.resourceVersion !== resourceVersion)
      throw conflict(
        named,
        name,
        `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
      );
  }

  watch(ref: ResourceRef, options: WatchOptions, listener: WatchListener): () => void {
    const { type } = this.#resolve(ref);
    const { resourceVersion } = options;
    const fromStart = resourceVersion === undefined || resourceVersion === "" || resourceVersion === "0";
    const request = {
      typeKey: keyOf(type),
      matches: this.#matcher(type, options),
      fromVersion: fromStart ? undefined : Number(resourceVersion),
    };
    return startWatch(this.#storage, request, listener);
  }

  resourceVersion(): string {
    return String(this.#storage.version);
  }

  close(): Promise<void> {
    return this.#storage.close();
  }
}

const keepStatus = (draft: KubeObject, current: KubeObject): void => {
  if (current["status"] === undefined) delete draft["status"];
  else draft["status"] = structuredClone(current["status"]);
};

/** Nothing holds a deleted object any more: no finalizer and no grace period. */
const isReleased = ({ metadata, spec }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers ?? []).length === 0 &&
  (metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
  ((spec as { finalizers?: unknown[] } | undefined)?.finalizers ?? []).length === 0;
