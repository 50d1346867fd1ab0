import type { ClusterStore, ListOptions, ObjectList, ResourceRef } from "../store/types.js";
import type { ServedType } from "./type-catalogue.js";

/** What the HTTP side needs of the store beyond what in-process users do. */
export interface ServedStore extends ClusterStore {
  find(ref: ResourceRef): ServedType | undefined;
  /** The list as it was at a version: what later pages of a long list read. 410 Expired when it is too old. */
  listAt(ref: ResourceRef, options: ListOptions, version: number | undefined): ObjectList;
}
