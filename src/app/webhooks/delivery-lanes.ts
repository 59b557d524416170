import {
  MAX_DELIVERIES,
  MAX_DELIVERIES_PER_ENDPOINT,
  MAX_PROMPT_DELIVERIES,
  MAX_STALLED_DELIVERIES,
  PROMPT_ANSWER_MS,
} from "../../core/outbound-limits.ts";
import type { Clock } from "../../core/ports.ts";

/** A slot for one attempt, held until one of these is called. */
export interface Slot {
  /** The attempt has ended. `succeeded`: the receiver accepted the event. */
  finish(succeeded: boolean): void;
  /** The attempt was never made, so it says nothing about the receiver. */
  giveBack(): void;
}

export interface DeliveryLanes {
  /**
   * How many attempts may start at this endpoint now. `failing`: its stored state, used until we know more.
   */
  freeSlots(endpoint: { id: string; failing: boolean }): number;
  take(endpoint: { id: string; failing: boolean }): Slot;
  /** Endpoints in the order they should be served: least recently served first. */
  inTurn<T extends { id: string }>(endpoints: T[]): T[];
}

interface Attempt {
  startedAt: number;
  lane: "prompt" | "stalled";
}

interface EndpointLoad {
  /**
   * How many attempts may be in flight: grows by one with each accepted event, falls to one with each
   * failure.
   */
  window: number;
  /** Its last response was a failure or late. */
  stalled: boolean;
  inFlight: Set<Attempt>;
  lastTurn: number;
}

/**
 * Decides who may send, so that a dead or slow receiver delays nobody else. Receivers in good standing share
 * one lane of slots, those that recently failed or were slow another; an attempt that takes long gives up its
 * prompt slot, so a receiver that goes silent blocks that lane for seconds rather than for a whole time-out.
 * Within an endpoint the window opens as TCP's does (additive increase), so that a recovering receiver is not
 * flooded; it opens for slow ones too, which would otherwise fall behind for ever.
 */
export function deliveryLanes(clock: Clock): DeliveryLanes {
  const loads = new Map<string, EndpointLoad>();
  const inFlight = new Set<Attempt>();
  let turns = 0;

  const loadOf = (endpoint: { id: string; failing: boolean }): EndpointLoad => {
    const known = loads.get(endpoint.id);
    if (known) return known;
    const fresh: EndpointLoad = { window: 1, stalled: endpoint.failing, inFlight: new Set(), lastTurn: 0 };
    loads.set(endpoint.id, fresh);
    return fresh;
  };
  const isOld = (startedAt: number) => clock.now() - startedAt >= PROMPT_ANSWER_MS;
  const hasOld = (load: EndpointLoad) => [...load.inFlight].some(({ startedAt }) => isOld(startedAt));
  const laneOf = (load: EndpointLoad): Attempt["lane"] =>
    load.stalled || hasOld(load) ? "stalled" : "prompt";

  const freeSlots: DeliveryLanes["freeSlots"] = (endpoint) => {
    const load = loadOf(endpoint);
    const lane = laneOf(load);
    const all = [...inFlight];
    const inLane =
      lane === "stalled"
        ? MAX_STALLED_DELIVERIES - all.filter((attempt) => attempt.lane === "stalled").length
        : MAX_PROMPT_DELIVERIES - all.filter((a) => a.lane === "prompt" && !isOld(a.startedAt)).length;
    // A prompt receiver that is late now may have gone silent; the attempts in flight will tell.
    const own = !load.stalled && hasOld(load) ? 0 : load.window - load.inFlight.size;
    return Math.max(0, Math.min(own, inLane, MAX_DELIVERIES - inFlight.size));
  };

  return {
    freeSlots,
    take: (endpoint) => {
      const load = loadOf(endpoint);
      const attempt: Attempt = { startedAt: clock.now(), lane: laneOf(load) };
      load.inFlight.add(attempt);
      inFlight.add(attempt);
      load.lastTurn = ++turns;
      const giveBack = () => {
        load.inFlight.delete(attempt);
        inFlight.delete(attempt);
      };
      return {
        giveBack,
        finish: (succeeded) => {
          giveBack();
          load.stalled = !succeeded || isOld(attempt.startedAt);
          load.window = succeeded ? Math.min(load.window + 1, MAX_DELIVERIES_PER_ENDPOINT) : 1;
        },
      };
    },
    inTurn: (endpoints) => {
      const turn = ({ id }: { id: string }) => loads.get(id)?.lastTurn ?? 0;
      return endpoints.toSorted((a, b) => turn(a) - turn(b));
    },
  };
}
