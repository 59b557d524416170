import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";

/** What a name server says of one question; undefined: nothing. */
export type DnsAnswer = { code?: number; cname?: string; a?: string[]; aaaa?: string[] } | undefined;

export interface DnsServer {
  /** `127.0.0.1:port`. */
  address: string;
  /** Such as `A photos.example`, in the order they came. */
  asked: string[];
  /** Resolves once so many questions have come that begin with `start`. */
  got(count: number, start?: string): Promise<void>;
  close(): void;
}

const TYPES: Record<number, string> = { 1: "A", 2: "NS", 28: "AAAA" };
export const NXDOMAIN = { code: 3 };

/** A real name server here that answers, or stays silent, by `answer`. What works knows the root. */
export async function dnsServer(answer: (name: string, type: string) => DnsAnswer): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  const waiting: { isThere: () => boolean; resolve: () => void }[] = [];
  socket.on("message", (question, from) => {
    const labels: string[] = [];
    let at = 12;
    for (; question[at]; at += 1 + (question[at] ?? 0))
      labels.push(question.toString("latin1", at + 1, at + 1 + (question[at] ?? 0)));
    const name = labels.join(".");
    const type = TYPES[question.readUInt16BE(at + 1)] ?? "?";
    asked.push(`${type} ${name}`);
    for (const { isThere, resolve } of waiting) if (isThere()) resolve();
    const said = answer(name, type);
    if (said) socket.send(reply(question.subarray(0, at + 5), name, type, said), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    asked,
    got: (count, start = "") =>
      new Promise((resolve) => {
        const isThere = () => asked.filter((question) => question.startsWith(start)).length >= count;
        if (isThere()) resolve();
        else waiting.push({ isThere, resolve });
      }),
    close: () => void socket.close(),
  };
}

/** RFC 1035, section 4: the header, the question again, and one record for each answer. */
function reply(question: Buffer, name: string, type: string, said: NonNullable<DnsAnswer>): Buffer {
  const owner = said.cname ?? name;
  const records = [
    ...(said.cname === undefined ? [] : [record(name, 5, encoded(said.cname))]),
    ...(type === "A"
      ? (said.a ?? []).map((ip) => record(owner, 1, Buffer.from(ip.split(".").map(Number))))
      : []),
    ...(type === "AAAA" ? (said.aaaa ?? []).map((hex) => record(owner, 28, Buffer.from(hex, "hex"))) : []),
  ];
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (said.code ?? 0), 2);
  head.writeUInt16BE(records.length, 6);
  head.fill(0, 8, 12);
  return Buffer.concat([head, ...records]);
}

function record(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.from([0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([encoded(owner), fixed, data]);
}

function encoded(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}
