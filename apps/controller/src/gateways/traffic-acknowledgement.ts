import { laggards, type LiveGateway } from "./live-gateways.js";

/** A move of traffic, as far as the gateways have followed it. */
export interface Acknowledgement {
  readonly acknowledged: boolean;
  /** Names of the gateways that are awaited. */
  readonly awaited: readonly string[];
  /** When the last of them would stop counting, in ms since the epoch; only time makes that happen. */
  readonly recheckAt: number | undefined;
}

interface Move {
  readonly traffic: string;
  /** The Function carries this traffic since this resource version, or an earlier one. */
  readonly resourceVersion: string;
  acknowledged: boolean;
}

/** Remembers which moves of traffic await the gateways. */
export interface TrafficAcknowledgements {
  /** The traffic was written, and the write answered with this resource version. */
  moved(functionUid: string, key: string, move: { traffic: string; resourceVersion: string }): void;
  /** Every gateway had followed this traffic when it was last looked at: known from the Function's own status. */
  confirmed(functionUid: string, key: string, traffic: string): void;
  /** Looks whether every live gateway has followed. */
  check(functionUid: string, key: string, seen: Seen): Acknowledgement;
  /** Keys of the Functions whose moves await a gateway. */
  awaiting(): readonly string[];
  forget(functionUid: string): void;
}

interface Seen {
  readonly traffic: string;
  readonly resourceVersion: string;
  readonly gateways: readonly LiveGateway[];
}

/**
 * The resource version of the very write is remembered in memory. After a restart the one that the Function has when it
 * is first seen stands in: it is the same or later, so waiting for it is safe, and the gateways reach it as quickly.
 */
export const createTrafficAcknowledgements = (): TrafficAcknowledgements => {
  const moves = new Map<string, Move & { readonly key: string }>();

  const moveOf = (functionUid: string, key: string, seen: Seen): Move => {
    const known = moves.get(functionUid);
    if (known?.traffic === seen.traffic) return known;
    const move = { key, traffic: seen.traffic, resourceVersion: seen.resourceVersion, acknowledged: false };
    moves.set(functionUid, move);
    return move;
  };

  return {
    moved: (functionUid, key, move) => {
      moves.set(functionUid, { key, ...move, acknowledged: false });
    },
    confirmed: (functionUid, key, traffic) => {
      if (moves.get(functionUid)?.traffic === traffic) return;
      moves.set(functionUid, { key, traffic, resourceVersion: "0", acknowledged: true });
    },
    check: (functionUid, key, seen) => {
      const move = moveOf(functionUid, key, seen);
      const behind = move.acknowledged ? [] : laggards(seen.gateways, move.resourceVersion);
      move.acknowledged = behind.length === 0;
      const recheckAt = behind.length === 0 ? undefined : Math.min(...behind.map(({ livesUntil }) => livesUntil));
      return { acknowledged: move.acknowledged, awaited: behind.map(({ name }) => name), recheckAt };
    },
    awaiting: () => [...moves.values()].filter((move) => !move.acknowledged).map((move) => move.key),
    forget: (functionUid) => {
      moves.delete(functionUid);
    },
  };
};
