created=$(curl -sS {{base_url}}/v1/images \
  -H "X-API-Key: $CARDPRESS_KEY" \
  -H "Idempotency-Key: first-card-$(date +%s)" \
  -H "Content-Type: application/json" \
  -d '{
    "type": "player_card",
    "player": {
      "external_id": "player-10442",
      "name": "Eileen Collins",
      "position": "ST",
      "number": 9,
      "skill_level": 87,
      "source_image_url": "{{base_url}}/docs/samples/player.png"
    },
    "style": { "preset": "{{preset}}", "background_theme": "stadium night" }
  }')
echo "$created"

# Ask until it is made. Your program reads data.image_id and data.status of the JSON instead.
image=$(echo "$created" | grep -o 'img_[0-9A-Za-z]*' | head -n 1)
while [ -n "$image" ]; do
  answer=$(curl -sS "{{base_url}}/v1/images/$image" -H "X-API-Key: $CARDPRESS_KEY")
  case "$answer" in *'"status":"processing"'*) sleep 1 ;; *) echo "$answer"; break ;; esac
done
