<?php
const API = '{{base_url}}';

/** The address of a card that is made when somebody opens it. */
function cardAddress(string $preset, array $card, int $days = 30): string
{
    $parameters = $card + ['key' => getenv('CARDPRESS_KEY_ID'), 'exp' => time() + $days * 86400];
    $pairs = [];
    foreach ($parameters as $name => $value) {
        $pairs[rawurlencode($name)] = rawurlencode($name) . '=' . rawurlencode((string) $value);
    }
    ksort($pairs, SORT_STRING);
    $text = "/v1/render/$preset?" . implode('&', $pairs);
    return API . $text . '&sig=' . hash_hmac('sha256', $text, getenv('CARDPRESS_SIGNING_SECRET'));
}

echo cardAddress('{{preset}}', [
    'external_id' => 'player-10442',
    'name' => "Eileen O'Collins",
    'position' => 'ST',
    'number' => 9,
    'skill_level' => 87,
    'photo' => API . '/docs/samples/player.png',
    'background_theme' => 'stadium night',
    'format' => 'jpeg',
]), "\n";
