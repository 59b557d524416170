<?php

declare(strict_types=1);

namespace Cardpress;

/**
 * Checks the calls that a webhook endpoint gets.
 *
 * @phpstan-import-type ReceivedEvent from Types
 */
final class Webhooks
{
    /** Older calls are refused, so that a recorded one cannot be played again. */
    private const TOLERANCE_SECONDS = 300;
    /** The fewest that a secret has. With an empty one anybody could sign. */
    private const SECRET_BYTES = 24;

    /**
     * The event of a call, by its headers and its body's very bytes: file_get_contents('php://input'). The same event may
     * come twice: remember the header webhook-id.
     *
     * @param array<string, string|list<string>> $headers by name, or $_SERVER
     * @return ReceivedEvent
     * @throws WebhookSignatureException unless the endpoint's secret signed it within the last five minutes
     * @throws \InvalidArgumentException when the secret is none, such as an empty setting
     */
    public static function read(string $secret, array $headers, string $body, ?int $now = null): array
    {
        $key = self::keyOf($secret);
        $byName = [];
        foreach ($headers as $name => $value) {
            $plain = strtolower(str_replace('_', '-', preg_replace('/^HTTP_/', '', (string) $name)));
            $byName[$plain] = is_array($value) ? ($value[0] ?? '') : $value;
        }
        $id = $byName['webhook-id'] ?? '';
        $timestamp = (string) ($byName['webhook-timestamp'] ?? '');
        if (!ctype_digit($timestamp) || abs(($now ?? time()) - (int) $timestamp) > self::TOLERANCE_SECONDS) {
            throw new WebhookSignatureException('the webhook is too old, or has no time');
        }
        $wanted = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        // While a secret is being rotated there are two signatures, one for each secret.
        foreach (explode(' ', (string) ($byName['webhook-signature'] ?? '')) as $entry) {
            if (hash_equals($wanted, $entry)) {
                return json_decode($body, true, 512, JSON_THROW_ON_ERROR);
            }
        }
        throw new WebhookSignatureException('the webhook\'s signature does not match');
    }

    private static function keyOf(string $secret): string
    {
        $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
        if (!str_starts_with($secret, 'whsec_') || $key === false || strlen($key) < self::SECRET_BYTES) {
            throw new \InvalidArgumentException(
                'the webhook secret is missing or not one: it begins with whsec_, and is shown when the endpoint is made'
            );
        }
        return $key;
    }
}
