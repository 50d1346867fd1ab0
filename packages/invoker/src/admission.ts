import { makeGatewayFullFault, makeTenantLimitFault, type CallFault } from "./faults.js";

/** A tenant's part of a global bound (security 9): a saturated tenant leaves three quarters to the others. */
const TENANT_SHARE = 1 / 4;

/**
 * Bounds the calls that this process holds at once, and each tenant's part of them, so that one tenant can't take the
 * places of all. Every call that was let in must leave exactly once.
 */
export class Admission {
  readonly #maxCalls: number;
  readonly #maxPerTenant: number;
  readonly #byTenant = new Map<string, number>();
  #total = 0;

  constructor(maxCalls: number) {
    this.#maxCalls = maxCalls;
    this.#maxPerTenant = Math.max(1, Math.floor(maxCalls * TENANT_SHARE));
  }

  /** Calls held now. */
  get total(): number {
    return this.#total;
  }

  /** Lets a call in, or says why not. */
  enter(tenant: string): CallFault | undefined {
    const held = this.#byTenant.get(tenant) ?? 0;
    if (held >= this.#maxPerTenant) return makeTenantLimitFault(this.#maxPerTenant);
    if (this.#total >= this.#maxCalls) return makeGatewayFullFault();
    this.#byTenant.set(tenant, held + 1);
    this.#total++;
    return undefined;
  }

  leave(tenant: string): void {
    const held = this.#byTenant.get(tenant) ?? 0;
    if (held <= 1) this.#byTenant.delete(tenant);
    else this.#byTenant.set(tenant, held - 1);
    this.#total--;
  }
}
