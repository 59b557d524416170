/**
 * Which sources the creates of all processes need. A create says so before it looks whether a source is
 * there, and a remover before it looks who needs it: at least one of two that meet sees the other.
 */
export interface SharedHolds {
  /** For one create. */
  open(): SharedHold;
  /**
   * Announces that a source is being removed: creates that come now wait until withdraw() is called.
   * Undefined, and nothing is announced, where a create holds it or somebody else is removing it. Who got an
   * announcement looks for what needs the source only then.
   */
  announce(sha256: string): Promise<Announcement | undefined>;
  /** Lets go of what killed processes held. */
  sweep(): Promise<void>;
}

export interface Announcement {
  /**
   * Ends it, and no later one of somebody else: it ends by itself some time after its process was killed or
   * frozen.
   */
  withdraw(): Promise<void>;
}

export interface SharedHold {
  /**
   * Resolves once the source is held, and nobody is removing it. Throws StorageUnavailable where that takes
   * longer than a request may wait.
   */
  add(sha256: string): Promise<void>;
  close(): Promise<void>;
}
