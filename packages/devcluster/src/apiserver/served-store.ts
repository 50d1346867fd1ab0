import type {
  ClusterStore,
  KubeObject,
  ListOptions,
  ManagedFieldsEntry,
  NewKubeObject,
  ObjectList,
  ResourceRef,
  UpdateOptions,
  WriteOptions,
} from "../store/types.js";
import type { ServedType } from "./type-catalogue.js";

export interface ServedWriteOptions extends WriteOptions {
  /** Of a server-side apply, which has worked out the managers itself. */
  managedFields?: ManagedFieldsEntry[] | undefined;
}

/** What the HTTP side needs of the store beyond what in-process users do. */
export interface ServedStore extends ClusterStore {
  create(ref: ResourceRef, object: NewKubeObject, options?: ServedWriteOptions): KubeObject;
  update(ref: ResourceRef, object: KubeObject, options?: UpdateOptions & ServedWriteOptions): KubeObject;
  find(ref: ResourceRef): ServedType | undefined;
  /** The list as it was at a version: what later pages of a long list read. 410 Expired when it is too old. */
  listAt(ref: ResourceRef, options: ListOptions, version: number | undefined): ObjectList;
}
