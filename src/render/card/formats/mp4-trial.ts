import { OperatorError } from "../../../core/errors.ts";
import { isMp4, type Mp4Maker, mp4Of } from "./mp4.ts";
import { webm } from "./webm.ts";

/** A grey frame of 64 x 64 pixels in VP9. */
const FRAME = "gkmDQgAD8AP2ADgkHBhKAAAwYAAAE7gYAAAA";

/** Has the operator's encoder make the smallest MP4. Throws an OperatorError when it does not. */
export async function checkMp4Encoder(maker: Mp4Maker): Promise<void> {
  const size = { width: 64, height: 64 };
  const frames = [{ bytes: Uint8Array.fromBase64(FRAME), isKey: true }];
  const film = webm({ ...size, framesPerSecond: 25, frames, still: new Uint8Array(1) });
  const problem = await mp4Of({ ...size, bytes: film }, maker).then(
    ({ bytes }) => (isMp4(bytes) ? undefined : "what it made is no MP4"),
    (error: Error) => error.message,
  );
  if (problem !== undefined)
    throw new OperatorError(
      `CARDPRESS_MP4_ENCODER is ${maker.encoder}, which makes no MP4 of a video: ${problem}. Set it to an ffmpeg with libx264 and VP9, such as /usr/bin/ffmpeg of Debian's or Ubuntu's package, or unset it.`,
    );
}
