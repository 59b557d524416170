/** What a process of the service can do. */
export interface NodeLoad {
  /** Renders at a time. */
  workers: number;
  /** How long one takes, on average. */
  renderMs: number;
}

/**
 * The processes that serve from one database: nodes. Each says every NODE_BEAT_MS that it lives; one that was
 * killed falls silent, and its work is taken over.
 */
export interface Nodes {
  /** Says that this node lives, and what it can do. */
  beat(load: NodeLoad): Promise<void>;
  /**
   * How far this node's clock was ahead of the database's at the last beat, ms; negative when it was behind.
   */
  aheadMs(): number;
  /** What the other living nodes can do, as of the last beat. */
  others(): readonly NodeLoad[];
  /**
   * Those of `names` that have ended. To be asked after the names were read off what they hold: a node says
   * that it lives before it takes anything.
   */
  ended(names: readonly string[]): Promise<string[]>;
  /** Strikes a node off: this one when it stops, or its predecessor, which is known to have ended. */
  strike(name: string): Promise<void>;
}

/** For a store that a single process serves from: any other that held something has ended. */
export function onlyNode(name: string): Nodes {
  return {
    beat: async () => {},
    aheadMs: () => 0,
    others: () => [],
    ended: async (names) => names.filter((other) => other !== name),
    strike: async () => {},
  };
}
