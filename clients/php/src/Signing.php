<?php

declare(strict_types=1);

namespace Cardpress;

/** Writes addresses of pictures that are made on demand. */
final class Signing
{
    /**
     * The address of a card that is made when somebody opens it.
     *
     * @param array<string, string|int|float|bool|null> $card its preset and the parameters by their names in the address,
     *     such as external_id, name and photo, those that are null left out
     * @param int|\DateTimeInterface $expires a number is Unix time in seconds
     */
    public static function cardUrl(
        array $card,
        string $baseUrl,
        string $keyId,
        string $secret,
        int|\DateTimeInterface $expires,
    ): string {
        $exp = $expires instanceof \DateTimeInterface ? $expires->getTimestamp() : $expires;
        ['preset' => $preset] = $card;
        unset($card['preset']);
        $pairs = [];
        foreach ($card + ['key' => $keyId, 'exp' => $exp] as $name => $value) {
            if ($value === null) {
                continue;
            }
            $text = is_bool($value) ? ($value ? 'true' : 'false') : (string) $value;
            $pairs[rawurlencode((string) $name)] = rawurlencode((string) $name) . '=' . rawurlencode($text);
        }
        ksort($pairs, SORT_STRING);
        $text = '/v1/render/' . rawurlencode((string) $preset) . '?' . implode('&', $pairs);
        return rtrim($baseUrl, '/') . $text . '&sig=' . hash_hmac('sha256', $text, $secret);
    }
}
