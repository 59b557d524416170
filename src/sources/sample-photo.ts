import path from "../../templates/club_card/samples/astronaut.png" with { type: "file" };

/** The sample photo's file: a portrait of Eileen Collins by NASA, in the public domain. */
export const SAMPLE_PHOTO = { path, contentType: "image/png" };
