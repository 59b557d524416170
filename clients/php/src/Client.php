<?php

declare(strict_types=1);

namespace Cardpress;

/**
 * The API of the service at an address, with one key. Refusals are thrown as RefusedException; what may succeed later
 * (429, 5xx, broken connections) is sent again first, with the same idempotency key.
 *
 * @phpstan-import-type AcceptedBatch from Types
 * @phpstan-import-type AcceptedImage from Types
 * @phpstan-import-type CompletedImage from Types
 * @phpstan-import-type CreateBatchRequest from Types
 * @phpstan-import-type CreateImageRequest from Types
 * @phpstan-import-type Image from Types
 * @phpstan-import-type BatchDetail from Types
 * @phpstan-import-type Photo from Types
 */
final class Client extends Operations
{
    private const BATCH_PAUSE_SECONDS = 1.0;

    /** @param array{retries?: int, timeout?: float, sleep?: \Closure(float): void} $options */
    public function __construct(string $baseUrl, string $apiKey, array $options = [])
    {
        parent::__construct(new Transport($baseUrl, $apiKey, ...$options));
    }

    /**
     * Create an image; `type` may be left out.
     *
     * @param CreateImageRequest $body
     * @return ($wait is null ? AcceptedImage : Image|AcceptedImage)
     */
    public function createImage(array $body, ?string $idempotencyKey = null, ?int $wait = null): array
    {
        return parent::createImage($body + ['type' => 'player_card'], $idempotencyKey, $wait);
    }

    /**
     * Create a batch; `type` of each card may be left out.
     *
     * @param CreateBatchRequest $body
     * @return AcceptedBatch
     */
    public function createBatch(array $body, ?string $idempotencyKey = null): array
    {
        $body['cards'] = array_map(static fn (array $card) => $card + ['type' => 'player_card'], $body['cards'] ?? []);
        return parent::createBatch($body, $idempotencyKey);
    }

    /**
     * Makes a card and waits for it. After $timeout seconds it throws, and the card is made all the same: the same key
     * gives it.
     *
     * @param CreateImageRequest $card
     * @return CompletedImage
     * @throws ImageFailedException|WaitedTooLongException|CardpressException
     */
    public function createAndWait(array $card, ?string $idempotencyKey = null, float $timeout = 300): array
    {
        $ends = microtime(true) + $timeout;
        $image = $this->createImage($card, $idempotencyKey, $this->waitWithin($timeout));
        if ($image['status'] !== 'processing') {
            return self::completed($image);
        }
        $made = $this->waitForImage($image['image_id'], $ends - microtime(true));
        return ['replayed' => $image['replayed'] ?? false] + $made;
    }

    /**
     * Waits until a card has ended.
     *
     * @return CompletedImage
     * @throws ImageFailedException|WaitedTooLongException|CardpressException
     */
    public function waitForImage(string $imageId, float $timeout = 300): array
    {
        $ends = microtime(true) + $timeout;
        for (;;) {
            $began = microtime(true);
            $image = $this->getImage($imageId, $this->waitWithin($ends - $began));
            if ($image['status'] !== 'processing') {
                return self::completed($image);
            }
            if (microtime(true) >= $ends) {
                throw new WaitedTooLongException("the card $imageId was not ready in time");
            }
            // A busy service may answer at once.
            $this->transport->sleep(max(0.0, 1 - (microtime(true) - $began)));
        }
    }

    /**
     * Waits until every card of a batch has ended; failed ones have a `failure`.
     *
     * @param ?callable(BatchDetail): void $onProgress
     * @return BatchDetail
     * @throws WaitedTooLongException|CardpressException
     */
    public function waitForBatch(string $batchId, float $timeout = 7200, ?callable $onProgress = null): array
    {
        $ends = microtime(true) + $timeout;
        for (;;) {
            $batch = $this->getBatch($batchId);
            if ($onProgress !== null) {
                $onProgress($batch);
            }
            if ($batch['processing'] === 0) {
                return $batch;
            }
            if (microtime(true) >= $ends) {
                throw new WaitedTooLongException("the batch $batchId was not ready in time");
            }
            $this->transport->sleep(self::BATCH_PAUSE_SECONDS);
        }
    }

    /**
     * Sends a photo or badge that you do not host; `url` of the answer is its address in a card.
     *
     * @return Photo
     */
    public function uploadPhoto(string $content, string $use = 'photo', string $filename = 'photo'): array
    {
        $boundary = bin2hex(random_bytes(16));
        $name = str_replace(['"', "\r", "\n"], ['%22', '', ''], $filename);
        $form = "--$boundary\r\nContent-Disposition: form-data; name=\"use\"\r\n\r\n$use\r\n"
            . "--$boundary\r\nContent-Disposition: form-data; name=\"file\"; filename=\"$name\"\r\n"
            . "Content-Type: application/octet-stream\r\n\r\n$content\r\n--$boundary--\r\n";
        // Sent again, it is the same photo.
        return $this->transport->call('POST', '/v1/photos', form: [$form, "multipart/form-data; boundary=$boundary"]);
    }

    /** For how long the service may wait with its answer; null for not at all. */
    private function waitWithin(float $seconds): ?int
    {
        return max(0, (int) min($this->transport->maxWait, $seconds)) ?: null;
    }

    private static function completed(array $image): array
    {
        if ($image['status'] === 'failed') {
            throw new ImageFailedException($image);
        }
        return $image;
    }
}
