<?php
const API = '{{base_url}}';

function call(string $path, ?array $body = null, array $headers = []): array
{
    $answer = file_get_contents(API . $path, false, stream_context_create(['http' => [
        'method' => $body === null ? 'GET' : 'POST',
        'header' => ['X-API-Key: ' . getenv('CARDPRESS_KEY'), ...$headers],
        'content' => $body === null ? '' : json_encode($body),
        'ignore_errors' => true,
    ]]));
    if ($answer === false) {
        throw new RuntimeException('No answer from ' . API);
    }
    ['data' => $data, 'error' => $error] = json_decode($answer, true);
    if ($error !== null) {
        throw new RuntimeException("{$error['code']}: {$error['message']} ({$error['request_id']})");
    }
    return $data;
}

$image = call('/v1/images', [
    'type' => 'player_card',
    'player' => [
        'external_id' => 'player-10442',
        'name' => 'Eileen Collins',
        'position' => 'ST',
        'number' => 9,
        'skill_level' => 87,
        'source_image_url' => API . '/docs/samples/player.png',
    ],
    'style' => ['preset' => '{{preset}}', 'background_theme' => 'stadium night'],
], ['Content-Type: application/json', 'Idempotency-Key: ' . bin2hex(random_bytes(16))]);

while ($image['status'] === 'processing') {
    sleep(1);
    $image = call("/v1/images/{$image['image_id']}");
}
if ($image['status'] === 'failed') {
    throw new RuntimeException($image['failure']['message']);
}
echo $image['result']['image_url'], "\n";
