/**
 * One piece at a time, as fast as the reader takes them, and none before it does. `onEnd` follows the last,
 * what went wrong, or a reader who went, once nothing is done any more.
 */
export function streamed(
  parts: AsyncGenerator<Uint8Array>,
  onEnd: (fault?: unknown) => void = () => {},
): ReadableStream<Uint8Array> {
  let isRead = true;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await parts.next();
          if (!isRead) return;
          if (!done) return controller.enqueue(value);
          controller.close();
          onEnd();
        } catch (error) {
          if (isRead) onEnd(error);
          throw error;
        }
      },
      cancel: async () => {
        isRead = false;
        await parts.return(undefined).finally(onEnd);
      },
    },
    { highWaterMark: 0 },
  );
}
