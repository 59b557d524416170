/**
 * Which sources the creates of all processes need. A create says so before it looks whether a source is there, and a
 * remover before it looks who needs it: at least one of two that meet sees the other.
 */
export interface SharedHolds {
  /** For one create. */
  open(): SharedHold;
  /**
   * Announces that a source is being removed: creates that come now wait. False, and nothing is announced, where a create
   * holds it or somebody else is removing it. Who got true looks for what needs the source only then.
   */
  announce(sha256: string): Promise<boolean>;
  /** Ends the announcement. */
  withdraw(sha256: string): Promise<void>;
  /** Lets go of what killed processes held. */
  sweep(): Promise<void>;
}

export interface SharedHold {
  /** Resolves once the source is held, and nobody is removing it. */
  add(sha256: string): Promise<void>;
  close(): Promise<void>;
}
