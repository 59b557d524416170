<?php

declare(strict_types=1);

namespace Cardpress;

/** Writes addresses of pictures that are made on demand. */
final class Signing
{
    /**
     * The address of a card that is made when somebody opens it.
     *
     * @param array<string, string|int|float|bool> $card the parameters by their names in the address, such as external_id, name and photo
     * @param int $expires Unix time in seconds
     */
    public static function cardUrl(string $baseUrl, string $preset, array $card, string $keyId, string $secret, int $expires): string
    {
        $pairs = [];
        foreach ($card + ['key' => $keyId, 'exp' => $expires] as $name => $value) {
            $text = is_bool($value) ? ($value ? 'true' : 'false') : (string) $value;
            $pairs[rawurlencode((string) $name)] = rawurlencode((string) $name) . '=' . rawurlencode($text);
        }
        ksort($pairs, SORT_STRING);
        $text = '/v1/render/' . rawurlencode($preset) . '?' . implode('&', $pairs);
        return rtrim($baseUrl, '/') . $text . '&sig=' . hash_hmac('sha256', $text, $secret);
    }
}
