import type { ManagedFieldsEntry } from "../../store/types.js";
import { FieldSet } from "./field-set.js";

/** One manager's fields, under the identity by which entries are told apart. */
export interface Manager {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  subresource: string | undefined;
  time: string | undefined;
  fields: FieldSet;
}

export type ManagerIdentity = Pick<Manager, "manager" | "operation" | "apiVersion" | "subresource">;

export const isSameManager = (a: ManagerIdentity, b: ManagerIdentity): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.apiVersion === b.apiVersion &&
  a.subresource === b.subresource;

export const decodeManagers = (entries: readonly ManagedFieldsEntry[] | undefined): Manager[] =>
  (entries ?? []).map(({ manager, operation, apiVersion, subresource, time, fieldsV1 }) => ({
    manager,
    operation,
    apiVersion,
    subresource,
    time,
    fields: FieldSet.fromFieldsV1(fieldsV1),
  }));

const order = ({ operation, time = "", manager, apiVersion, subresource = "" }: Manager): string =>
  [operation, time, manager, apiVersion, subresource].join("\u0000");

/** Entries in the order that kube-apiserver gives them; managers of nothing are left out. */
export const encodeManagers = (managers: readonly Manager[]): ManagedFieldsEntry[] =>
  managers
    .filter(({ fields }) => !fields.isEmpty())
    .sort((a, b) => (order(a) < order(b) ? -1 : 1))
    .map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: "FieldsV1",
      fieldsV1: fields.toFieldsV1(),
      ...(subresource === undefined ? {} : { subresource }),
    }));
