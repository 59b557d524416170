<?php

declare(strict_types=1);

namespace Cardpress;

/** Sends calls, and again those that may succeed later. */
final class Transport
{
    private const RETRIES = 4;
    private const TIMEOUT_SECONDS = 30;
    /** A file may wait until others are written, and its pages are drawn. */
    private const FILE_TIMEOUT_SECONDS = 240;
    /** A longer Retry-After is of a spent day: nobody waits for that in a call. */
    private const MAX_PAUSE_SECONDS = 90;
    private const MAX_BACKOFF_SECONDS = 30;
    /** The service waits no longer before it answers a create, whose photo it has to fetch first. */
    private const MAX_WAIT_SECONDS = 15;

    public readonly string $baseUrl;
    /** For how long an answer may be put off, so that it comes within an attempt. */
    public readonly int $maxWait;
    private readonly \Closure $sleep;

    /** @param ?\Closure(float): void $sleep in place of the clock, for tests */
    public function __construct(
        string $baseUrl,
        private readonly string $apiKey,
        private readonly int $retries = self::RETRIES,
        private readonly float $timeout = self::TIMEOUT_SECONDS,
        ?\Closure $sleep = null,
    ) {
        $this->baseUrl = rtrim($baseUrl, '/');
        $this->maxWait = min(self::MAX_WAIT_SECONDS, (int) ($timeout / 2));
        $this->sleep = $sleep ?? static fn (float $seconds) => usleep((int) ($seconds * 1_000_000));
    }

    public static function newKey(): string
    {
        return bin2hex(random_bytes(16));
    }

    public function sleep(float $seconds): void
    {
        ($this->sleep)($seconds);
    }

    /**
     * The data of an answer, or its bytes.
     *
     * @param array<string, mixed> $query
     * @param ?array<string, mixed> $body
     * @param ?array{string, string} $form the bytes of a form and its type
     * @throws CardpressException
     */
    public function call(
        string $method,
        string $path,
        array $query = [],
        ?array $body = null,
        ?array $form = null,
        ?string $idempotencyKey = null,
        ?int $wait = null,
        bool $once = false,
        bool $raw = false,
    ): mixed {
        [$content, $type] = $form ?? [$body === null ? '' : self::json($body), 'application/json'];
        $headers = ['X-API-Key: ' . $this->apiKey];
        if ($content !== '') {
            $headers[] = "Content-Type: $type";
        }
        if ($idempotencyKey !== null) {
            $headers[] = "Idempotency-Key: $idempotencyKey";
        }
        if ($wait !== null) {
            $headers[] = "Prefer: wait=$wait";
        }
        for ($sent = 0; ; $sent += 1) {
            $isLast = $once || $sent >= $this->retries;
            $pause = min(2 ** $sent, self::MAX_BACKOFF_SECONDS) * (0.5 + mt_rand() / mt_getrandmax());
            [$status, $answer, $asked, $problem, $replayed] = $this->send(
                $method,
                $path . self::query($query),
                $headers,
                $content,
                $raw ? max($this->timeout, self::FILE_TIMEOUT_SECONDS) : $this->timeout,
            );
            $envelope = json_decode($answer, true);
            if ($status >= 200 && $status < 300) {
                if ($raw) {
                    return $answer;
                }
                if (is_array($envelope) && array_key_exists('data', $envelope)) {
                    return $idempotencyKey === null ? $envelope['data'] : ['replayed' => $replayed] + $envelope['data'];
                }
                $problem = 'the answer is not the service\'s: is the address right, and is a proxy in between?';
            } elseif ($status > 0) {
                $isWorthRepeating = $status === 429 || $status >= 500;
                if ($isLast || !$isWorthRepeating || $asked > self::MAX_PAUSE_SECONDS) {
                    throw isset($envelope['error'])
                        ? new RefusedException($status, $envelope['error'], $asked > 0 ? $asked : null)
                        : new NoAnswerException("HTTP $status without the service's envelope: is the address right, and is a proxy in between?");
                }
                $pause = $asked > 0 ? $asked : $pause;
            }
            if ($isLast) {
                throw new NoAnswerException("No answer from {$this->baseUrl}: $problem");
            }
            $this->sleep($pause);
        }
    }

    /**
     * @param list<string> $headers
     * @return array{int, string, int, string, bool} status (0 without an answer), body, seconds of Retry-After, problem,
     *     whether it is the answer to an earlier call
     */
    private function send(string $method, string $path, array $headers, string $content, float $timeout): array
    {
        $context = stream_context_create(['http' => [
            'method' => $method,
            'header' => $headers,
            'content' => $content,
            'timeout' => $timeout,
            'ignore_errors' => true,
            // PHP's own decoder takes a body that breaks off for a whole one.
            'auto_decode' => false,
            'follow_location' => 0,
            'protocol_version' => 1.1,
        ]]);
        error_clear_last();
        $stream = @fopen($this->baseUrl . $path, 'r', false, $context);
        $received = $http_response_header ?? [];
        $answer = $stream === false ? null : self::bodyOf($stream, $received);
        $problem = error_get_last()['message'] ?? 'the connection broke off';
        if ($answer === null || !preg_match('#^HTTP/\S+ (\d{3})#', $received[0] ?? '', $found)) {
            return [0, '', 0, $problem, false];
        }
        $asked = 0;
        $replayed = false;
        foreach ($received as $line) {
            if (preg_match('/^retry-after:\s*(\d+)\s*$/i', $line, $seconds)) {
                $asked = (int) $seconds[1];
            }
            $replayed = $replayed || preg_match('/^idempotent-replayed:\s*true\s*$/i', $line) === 1;
        }
        return [(int) $found[1], $answer, $asked, $problem, $replayed];
    }

    /**
     * The body of an answer, null where it broke off.
     *
     * @param resource $stream
     * @param list<string> $headers
     */
    private static function bodyOf($stream, array $headers): ?string
    {
        $all = implode("\n", $headers);
        if (preg_match('/^transfer-encoding:\s*chunked\s*$/im', $all) !== 1) {
            $body = stream_get_contents($stream);
            $length = preg_match('/^content-length:\s*(\d+)\s*$/im', $all, $found) === 1 ? (int) $found[1] : 0;
            return $body === false || strlen($body) < $length ? null : $body;
        }
        $body = '';
        while (preg_match('/^[0-9a-f]+/i', (string) fgets($stream), $found) === 1) {
            $size = (int) hexdec($found[0]);
            if ($size === 0) {
                return $body;
            }
            $piece = (string) stream_get_contents($stream, $size);
            if (strlen($piece) < $size) {
                return null;
            }
            $body .= $piece;
            // The end of the piece's line.
            fgets($stream);
        }
        return null;
    }

    /** @param array<string, mixed> $query */
    private static function query(array $query): string
    {
        $pairs = [];
        foreach ($query as $name => $value) {
            if (is_array($value)) {
                foreach ($value as $key => $one) {
                    $pairs["$name.$key"] = (string) $one;
                }
            } elseif ($value !== null) {
                $pairs[$name] = is_bool($value) ? json_encode($value) : (string) $value;
            }
        }
        return $pairs === [] ? '' : '?' . http_build_query($pairs, '', '&', PHP_QUERY_RFC3986);
    }

    /** @param array<string, mixed> $body */
    private static function json(array $body): string
    {
        $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE;
        // An empty array is an empty object: no body is a list.
        return $body === [] ? '{}' : json_encode($body, $flags);
    }
}
