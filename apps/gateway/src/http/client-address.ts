import { BlockList, isIP } from "node:net";
import type { IncomingMessage } from "node:http";

/** Who sent a request, as far as it can be believed. */
export interface ClientAddress {
  readonly ip: string;
  /** What the function reads in `X-Forwarded-For`: the believed part of the chain and the peer. */
  readonly forwardedFor: string;
  readonly proto: "http" | "https";
}

export type ClientAddressReader = (request: IncomingMessage, peerIsTrusted?: boolean) => ClientAddress;

interface Peer {
  readonly isTrusted: boolean;
  /** What is known of a client that is this peer itself. */
  readonly direct: ClientAddress;
}

/** Peers that are remembered; there are few, since most are load balancers. */
const MAX_REMEMBERED_PEERS = 1024;

/** `::ffff:10.0.0.1` is how a dual-stack socket names 10.0.0.1. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");

const makeBlockList = (ranges: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    const family = isIP(address);
    if (family === 0) throw new RangeError(`SLESS_TRUSTED_PROXIES: ${range} is no address range. Example: 10.0.0.0/8`);
    list.addSubnet(
      address,
      bits === undefined ? (family === 4 ? 32 : 128) : Number(bits),
      family === 4 ? "ipv4" : "ipv6",
    );
  }
  return list;
};

/** Addresses of a chain from the client to us, as headers of trusted proxies tell it; garbage ends the chain. */
const parseChain = (request: IncomingMessage): string[] => {
  const header = request.headers["x-forwarded-for"];
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  return text.split(",", 64).map((part) => plainAddress(part.trim()));
};

/**
 * Makes the reader of clients' addresses. `X-Forwarded-*` is believed only from configured proxies (security 19): the
 * client is the last address of the chain that no trusted proxy has.
 * @param ranges addresses or CIDR ranges @throws RangeError for anything else.
 */
export const createClientAddressReader = (ranges: readonly string[]): ClientAddressReader => {
  const list = makeBlockList(ranges);
  const remembered = new Map<string, Peer>();

  const isTrusted = (address: string): boolean => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6");
  };

  const peerOf = (remoteAddress: string): Peer => {
    const known = remembered.get(remoteAddress);
    if (known !== undefined) return known;
    const ip = plainAddress(remoteAddress);
    const peer = { isTrusted: isTrusted(ip), direct: { ip, forwardedFor: ip, proto: "http" as const } };
    if (remembered.size < MAX_REMEMBERED_PEERS) remembered.set(remoteAddress, peer);
    return peer;
  };

  const followChain = (request: IncomingMessage, peer: string): ClientAddress => {
    const chain = parseChain(request);
    const believed: string[] = [];
    let ip = peer;
    for (let hop = chain.pop(); hop !== undefined && isIP(hop) !== 0; hop = chain.pop()) {
      believed.unshift(hop);
      ip = hop;
      if (!isTrusted(hop)) break;
    }
    const proto = request.headers["x-forwarded-proto"] === "https" ? "https" : "http";
    return { ip, forwardedFor: [...believed, peer].join(", "), proto };
  };

  return (request, peerIsTrusted = false) => {
    const peer = peerOf(request.socket.remoteAddress ?? "");
    return peerIsTrusted || peer.isTrusted ? followChain(request, peer.direct.ip) : peer.direct;
  };
};
