const answer = (data: object) => ({ success: true, data, error: null });

const MATCH_DAY = { name: "match day", size: null, closes_at: "2026-12-06T18:00:00.000Z", print_run: null };
const PARALLELS = [{ name: "base", size: null }, { name: "gold", size: 50 }, MATCH_DAY];
const { print_run: _, ...NEW_EDITION } = MATCH_DAY;
const SET = {
  set_id: "set_3Hs5mJd0nV7rQe2TzXyB8kWc",
  name: "Rovers 2026/27",
  season: "2026/27",
  parallels: PARALLELS,
  gallery_url: null,
  created_at: "2026-11-21T10:00:00.000Z",
};
const PLAYER = { external_id: "player-10442", name: "Maya Okafor", number: 9 };

/** Bodies of the operations of sets. */
export const SET_EXAMPLES = {
  request: {
    name: SET.name,
    season: SET.season,
    parallels: [...PARALLELS.slice(0, -1), NEW_EDITION],
    players: [PLAYER],
  },
  set: answer(SET),
  opened: answer({ ...SET, gallery_url: "https://cards.example.org/gallery/gal_7Tq2XyB8kWc3Hs5mJd0nV7rQ" }),
  list: answer({ sets: [SET], has_more: false, next_cursor: null }),
  packs: answer({
    set_id: SET.set_id,
    seed: "cup final 2027, 2:1",
    cards_in_pool: 600,
    packs: [
      [
        {
          image_id: "img_5mJd0nV7rQe2TzXyB8kWc3Hs",
          external_id: PLAYER.external_id,
          name: PLAYER.name,
          parallel: "gold",
          serial: 12,
          size: 50,
        },
      ],
    ],
  }),
  checklist: answer({
    ...SET,
    players: [
      {
        ...PLAYER,
        parallels: [
          { name: "base", size: null, made: 1, processing: 0 },
          { name: "gold", size: 50, made: 12, processing: 3 },
          { ...MATCH_DAY, made: 7, processing: 1 },
        ],
      },
    ],
  }),
};
